import type { KeyValueQuota, KeyValueReader, KeyValues, WriteResult } from '@sluice/sdk/extension';
import { changeValue } from '@sluice/sdk/extension/internal';
import { type Clock, definedFields, type Logger, Timer } from 'sluice-kernel/internal';
import type { TimelineRecorder } from '../timeline/timeline-recorder.js';

/** An item that waits for its end: an answer of a person, or its deadline. */
export interface KeptItem {
  readonly id: string;
  readonly askedAtMs: number;
  readonly dueAtMs: number;
}

/** The services that kept items need. */
export interface KeptItemsParts {
  readonly keyValues: KeyValues;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hears of questions and their ends; absent beside a host. */
  readonly timeline?: TimelineRecorder;
}

/** How items are persisted. */
export interface KeptItemsOptions<Item extends KeptItem> {
  /** The beginning of their namespaces. */
  readonly prefix: string;
  readonly quota: KeyValueQuota;
  /** The namespace of an item behind the prefix. */
  readonly partOf: (item: Item) => string;
}

type Given = Pick<Parameters<KeyValues['write']>[3], 'expected' | 'signal'>;

export const retryAfterMs = 1_000;
/** Milliseconds of the longest timer: the time of day may jump meanwhile. */
const longestWaitMs = 86_400_000;

/**
 * Reads the items under a prefix, in the order in which they were asked.
 *
 * @param limit of each namespace.
 * @param start the beginning of their ids.
 */
export async function readItems<Item extends KeptItem>(
  keyValues: KeyValueReader,
  prefix: string,
  limit: number,
  start = '',
): Promise<Item[]> {
  const items: Item[] = [];
  for (const { namespace } of await keyValues.namespaces())
    if (namespace.startsWith(prefix))
      for (const { body } of await keyValues.list(namespace, { prefix: start, limit }))
        items.push(JSON.parse(body) as Item); // a host has written it
  return items.sort((a, b) => a.askedAtMs - b.askedAtMs);
}

/**
 * Items of the host that wait for people, such as questions: each is persisted in the key-values of the journal, and has a deadline.
 * Each kind of them is a class of its own. Timers run from `start` to `stop`; what is persisted stays.
 */
export abstract class KeptItems<Item extends KeptItem> {
  protected readonly parts: KeptItemsParts;
  readonly #options: KeptItemsOptions<Item>;
  readonly #timers = new Map<string, Timer>();
  #isRunning = false;

  constructor(parts: KeptItemsParts, options: KeptItemsOptions<Item>) {
    this.parts = parts;
    this.#options = options;
  }

  /** Gives an item its end whose deadline has passed. If it rejects, it is called again. */
  protected abstract expire(item: Item): Promise<unknown>;

  /** Reads the items of all hosts, in the order in which they were asked. @param start the beginning of their ids. */
  load(start?: string): Promise<Item[]> {
    const { prefix, quota } = this.#options;
    return readItems<Item>(this.parts.keyValues, prefix, quota.maxKeys, start);
  }

  /** Reads an item as it is now: another process may have written it. */
  read(item: Item): Promise<Item | undefined> {
    return this.find(this.#options.partOf(item), item.id);
  }

  /** As `read`, by the namespace behind the prefix and the id. */
  async find(part: string, id: string): Promise<Item | undefined> {
    const persisted = await this.parts.keyValues.get(`${this.#options.prefix}${part}`, id);
    return persisted && (JSON.parse(persisted.body) as Item); // this class has written it
  }

  /** @param given as of `KeyValues.write`. */
  protected write(item: Item, given?: Given): Promise<WriteResult> {
    const { namespace, key, quota } = this.#at(item);
    const value = { body: JSON.stringify(item) };
    return this.parts.keyValues.write(namespace, key, value, { ...given, quota });
  }

  /**
   * Changes an item in one step with the look at it: another process may write it, too.
   *
   * @param next makes the new item of the item as it is now; `null` removes it, and nothing leaves it as it is.
   * @param signal of the right to change it; absent if anybody may.
   * @returns the item as it is then, or as it was removed; nothing if it was not changed, or is not there.
   * @throws as the journal does, and if there is no room for it.
   */
  async change(
    item: Item,
    next: (now: Item) => Item | null | undefined,
    signal?: AbortSignal,
  ): Promise<Item | undefined> {
    const { status, item: changed } = await this.#step(item, (now) => now && next(now), signal);
    if (status === 'full') throw new Error('the journal has no room for it');
    return status === 'written' ? changed : undefined;
  }

  /** Adds an item, or replaces the one that is there if that may be. @returns the one that is there then, and if there was no room. */
  protected put(item: Item, mayReplace: (now: Item) => boolean) {
    return this.#step(item, (now) => (now === undefined || mayReplace(now) ? item : undefined));
  }

  async #step(
    item: Item,
    next: (now: Item | undefined) => Item | null | undefined,
    signal?: AbortSignal,
  ) {
    let now: Item | undefined;
    let changed: Item | null | undefined;
    const at = { ...this.#at(item), values: this.parts.keyValues, ...definedFields({ signal }) };
    const { result } = await changeValue(at, (was) => {
      now = was && (JSON.parse(was.body) as Item); // this class has written it
      changed = next(now);
      return changed && { body: JSON.stringify(changed) };
    });
    return { status: result?.status, item: changed ?? now ?? item };
  }

  protected async remove(item: Item): Promise<void> {
    const { namespace, key, quota } = this.#at(item);
    await this.parts.keyValues.write(namespace, key, undefined, { quota });
  }

  /** Lets deadlines pass from now on. */
  start(): void {
    this.#isRunning = true;
  }

  /** Waits for nothing more. */
  stop(): void {
    this.#isRunning = false;
    for (const timer of this.#timers.values()) timer.clear();
    this.#timers.clear();
  }

  /** Waits for the deadline of an item. */
  protected arm(item: Item): void {
    const { id, dueAtMs } = item;
    const { clock, logger } = this.parts;
    const delayMs = Math.max(0, dueAtMs - clock.now());
    this.later(id, Math.min(delayMs, longestWaitMs), async () => {
      if (clock.now() < dueAtMs) return this.arm(item);
      try {
        await this.expire(item);
      } catch (error) {
        logger.error('what waits for an answer could not expire', { error });
        this.later(id, retryAfterMs, () => this.arm(item));
      }
    });
  }

  /** Does something about an item later, in the place of what was to be done before. */
  protected later(id: string, delayMs: number, work: () => Promise<void> | void): void {
    if (!this.#isRunning) return;
    this.disarm(id);
    const timer = new Timer(this.parts.clock);
    timer.setIdly(delayMs, () => {
      this.#timers.delete(id);
      void work();
    });
    this.#timers.set(id, timer);
  }

  protected disarm(id: string): void {
    this.#timers.get(id)?.clear();
    this.#timers.delete(id);
  }

  #at(item: Item) {
    const { prefix, partOf, quota } = this.#options;
    return { namespace: `${prefix}${partOf(item)}`, key: item.id, quota };
  }
}
