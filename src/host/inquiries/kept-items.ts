import type { KeyValueQuota, KeyValueReader, KeyValues } from '@sluice/sdk/extension';
import { hasFields, listItems, WorkItems } from '@sluice/sdk/extension/internal';
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

/** A kind of items. */
export interface KindOfItems<Item extends KeptItem> {
  /** The beginning of their namespaces. */
  readonly prefix: string;
  readonly quota: KeyValueQuota;
  /** The namespace of an item behind the prefix. */
  readonly partOf: (item: Item) => string;
  /** Returns whether an item has no end yet. */
  readonly isOpen: (item: Item) => boolean;
  /** Checks what was read: it comes from a disk. */
  readonly isItem: (value: unknown) => value is Item;
}

/** Makes the check of a kind: of the fields of every item, and of some more. */
export function isKept<Item extends KeptItem>(more: Parameters<typeof hasFields<Item>>[0]) {
  const own = { id: 'string', askedAtMs: 'number', dueAtMs: 'number' } as const;
  return hasFields<Item>({ ...own, ...more });
}

export const retryAfterMs = 1_000;
/** Milliseconds of the longest timer: the time of day may jump meanwhile, and another host may end the item. */
const longestWaitMs = 600_000;

/**
 * Reads the items of a kind, in the order in which they were asked.
 *
 * @param limit of each namespace.
 * @param start the beginning of their ids.
 */
export async function readItems<Item extends KeptItem>(
  keyValues: KeyValueReader,
  { prefix, isItem }: Pick<KindOfItems<Item>, 'prefix' | 'isItem'>,
  limit?: number,
  start?: string,
): Promise<Item[]> {
  const given = definedFields({ prefix: start, limit });
  const items: Item[] = [];
  for (const { namespace } of await keyValues.namespaces())
    if (namespace.startsWith(prefix))
      for (const { item } of await listItems(keyValues, { isItem }, namespace, given))
        items.push(item);
  return items.sort((a, b) => a.askedAtMs - b.askedAtMs);
}

/**
 * Work items of the host that wait for people, such as questions: each has a deadline. Each kind of them is a class of its own.
 * Timers run from `start` to `stop`; what is persisted stays.
 */
export class KeptItems<Item extends KeptItem> {
  protected readonly parts: KeptItemsParts;
  readonly #kind: KindOfItems<Item>;
  protected readonly items: WorkItems<Item>;
  readonly #timers = new Map<string, Timer>();
  #isRunning = false;

  constructor(parts: KeptItemsParts, kind: KindOfItems<Item>) {
    this.parts = parts;
    this.#kind = kind;
    const onUnreadable = (at: object) => parts.logger.error('an item cannot be read', { ...at });
    this.items = new WorkItems(parts.keyValues, { ...kind, onUnreadable });
  }

  /** Gives an item its end whose deadline has passed. If it rejects, it is called again. */
  protected async expire(_item: Item): Promise<void> {}

  /** Reads the items of all hosts, in the order in which they were asked. @param start the beginning of their ids. */
  load(start?: string): Promise<Item[]> {
    return readItems<Item>(this.parts.keyValues, this.#kind, undefined, start);
  }

  /** Reads an item as it is now: another process may have written it. */
  read(item: Item): Promise<Item | undefined> {
    return this.find(this.#kind.partOf(item), item.id);
  }

  /** As `read`, by the namespace behind the prefix and the id. */
  find(part: string, id: string): Promise<Item | undefined> {
    return this.items.find(`${this.#kind.prefix}${part}`, id);
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
    const changing = (now: Item | undefined) => now && next(now);
    const {
      status,
      was,
      item: changed,
    } = await this.items.change(this.rowOf(item, signal), changing);
    if (status === 'full') throw new Error('the journal has no room for it');
    return status === 'written' ? (changed ?? was) : undefined;
  }

  protected async remove(item: Item): Promise<void> {
    await this.items.write(this.rowOf(item));
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
      try {
        if (clock.now() >= dueAtMs) await this.expire(item);
        else if (await this.#isOpen(item)) this.arm(item);
      } catch (error) {
        logger.error('what waits for an answer could not expire', { error });
        this.later(id, retryAfterMs, () => this.arm(item));
      }
    });
  }

  async #isOpen(item: Item): Promise<boolean> {
    const now = await this.read(item);
    return now !== undefined && this.#kind.isOpen(now);
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

  /** The place of an item. @param signal of the right to write it. */
  protected rowOf(item: Item, signal?: AbortSignal) {
    const { prefix, partOf } = this.#kind;
    return { namespace: `${prefix}${partOf(item)}`, key: item.id, ...definedFields({ signal }) };
  }
}
