/**
 * A type of which every part is plain JSON: no function, date, map or instance of a class. A property that may be
 * `undefined` is left out when it is.
 */
export type Storable<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends bigint | symbol | undefined | ((...given: never[]) => unknown)
      ? never
      : { [K in keyof T]: Storable<Exclude<T[K], undefined>> | Extract<T[K], undefined> };

/** How a value is kept. */
export interface StoreSetOptions {
  /** Milliseconds until the value is gone, from 1 up; for ever if absent. */
  readonly ttlMs?: number;
}

/** Which entries are listed. */
export interface StoreListOptions {
  /** Only keys after this one. */
  readonly after?: string;
  /** At most so many, the first; all of them if absent. */
  readonly limit?: number;
}

/** A value with its key. */
export interface StoreEntry<T = unknown> {
  readonly key: string;
  readonly value: T;
  /** When it is gone, in milliseconds since 1970; absent if it stays. */
  readonly expiresAtMs?: number;
}

/**
 * The memory of one extension (extensions-that-act §2): plain JSON values by key, in the database of the journal, or in
 * memory if the host has no journal. A promise that resolves means that the value is kept as safely as the messages are.
 * A write is not part of the message at hand: if that message is tried again, the handler runs again and finds what it
 * wrote the first time. A key has 1 to 512 characters, none of them a control character.
 *
 * Each method rejects with a SluiceError: `bad-store-key`, `not-storable`, `store-full`, or as the journal does.
 *
 * @example
 * const seen = await api.store.update<number>('seen', (before = 0) => before + 1);
 * await api.store.set(`asked/${senderId}`, { atMs: api.clock.now() }, { ttlMs: 86_400_000 });
 */
export interface ExtensionStore {
  /** The value of a key, as a copy; `undefined` if there is none. The type is the caller's word: nobody checks it. */
  get<T = unknown>(key: string): Promise<T | undefined>;
  /** Keeps a value in place of the one before. */
  set<T>(key: string, value: T & Storable<T>, options?: StoreSetOptions): Promise<void>;
  /** Drops a value. @returns whether there was one. */
  delete(key: string): Promise<boolean>;
  /** The entries whose keys begin with a prefix, in the order of their keys by code point; by default all. `T` as of `get`. */
  list<T = unknown>(prefix?: string, options?: StoreListOptions): Promise<readonly StoreEntry<T>[]>;
  /**
   * Changes a value as one step: if somebody else has changed it meanwhile, `change` runs again with the value of then.
   *
   * @param change returns the new value, or `undefined` to leave all as it is. It may be async, and may run more than once.
   * @returns the value that is kept after it.
   */
  update<T = unknown>(
    key: string,
    change: (before: T | undefined) => T | undefined | Promise<T | undefined>,
    options?: StoreSetOptions,
  ): Promise<T | undefined>;
}
