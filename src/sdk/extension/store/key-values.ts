/** A value as it is kept. */
export interface KeptValue {
  readonly key: string;
  /** JSON. */
  readonly body: string;
  /** Another one with each write of the key, also after the key was deleted. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs?: number;
}

/** The bounds of a namespace. */
export interface KeyValueQuota {
  readonly maxKeys: number;
  /** Bytes of all keys and bodies together, in UTF-8. */
  readonly maxBytes: number;
}

/** A value to be kept. */
export interface NewValue {
  readonly body: string;
  readonly expiresAtMs?: number;
}

/** The end of a write: `conflict` if the key was not as expected. Nothing is written unless it is `written`. */
export type WriteResult =
  | { readonly status: 'written' }
  | { readonly status: 'conflict' }
  | { readonly status: 'full'; readonly keys: number; readonly bytes: number };

/** The version that a key has to have, or the body; `null`: it has no value. */
export type ExpectedValue = string | null | { readonly body: string };

/** A namespace that holds something. */
export interface NamespaceUse {
  readonly namespace: string;
  readonly keys: number;
  readonly bytes: number;
}

/** Reads values by namespace and key. A value that has expired is not there. */
export interface KeyValueReader {
  get(namespace: string, key: string): Promise<KeptValue | undefined>;
  /** The values of a namespace whose keys begin with a prefix, in the order of their keys by code point. */
  list(
    namespace: string,
    given: { readonly prefix: string; readonly after?: string; readonly limit: number },
  ): Promise<readonly KeptValue[]>;
  /** The namespaces that hold something, by name. Values that have expired count until they are dropped. */
  namespaces(): Promise<readonly NamespaceUse[]>;
}

/**
 * Values by namespace and key: a namespace for each extension, by its id, and namespaces of the host that begin with a
 * slash, which no id has. No call costs more if there are more values, but for `list`, which costs what it returns.
 *
 * @example
 * await journal.keyValues.write('/schedules', name, { body }, { expected: null, quota });
 */
export interface KeyValues extends KeyValueReader {
  /**
   * Writes or deletes a value in one step with the look at what was there. A resolved write is kept.
   *
   * @param value the new value; `undefined` deletes.
   * @param expected the version or the body that has to be there, `null` for none; whatever is there if absent.
   * @param quota absent: the namespace is not bounded, and need not be counted by `namespaces`.
   * @param signal of a right to write: once it has aborted, nothing is written, and the call rejects with its reason.
   * @param mayWait nobody waits for it: it may be kept with the next write that somebody waits for.
   */
  write(
    namespace: string,
    key: string,
    value: NewValue | undefined,
    given: {
      readonly expected?: ExpectedValue;
      readonly quota?: KeyValueQuota;
      readonly signal?: AbortSignal;
      readonly mayWait?: boolean;
    },
  ): Promise<WriteResult>;
  /** Deletes all of a namespace. @returns how many values that were. */
  clear(namespace: string): Promise<number>;
}
