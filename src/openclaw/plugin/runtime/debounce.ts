import { type Clock, type Fields, fieldsOf, isFields, Timer } from 'sluice-kernel/internal';
import type { MessageWay } from '../way/message-way.js';

interface Debounced<T> {
  readonly debounceMs: number;
  readonly buildKey: (item: T) => string | null | undefined;
  readonly shouldDebounce?: (item: T) => boolean;
  readonly resolveDebounceMs?: (item: T) => number | undefined;
  /** That of profile 2026.9 gets `createFlush`, and gives a flush. */
  readonly onFlush: (items: T[], createFlush?: (flush: Fields) => unknown) => unknown;
  readonly onError?: (error: unknown, items: T[]) => void;
}

/** A debouncer: that of this package, or of the plugin's own OpenClaw. */
interface Debouncer<T> {
  enqueue(item: T): Promise<void>;
  flushKey(key: string): Promise<void>;
}

type MakeDebouncer = <T>(how: Debounced<T>) => Debouncer<T>;

/**
 * `channel.debounce`: messages of one sender that come shortly after one another are handed on together.
 *
 * @param theirs finds the debouncer of the plugin's own OpenClaw, which gives `onFlush` a second argument.
 */
export function debounceOf(clock: Clock, way: MessageWay, theirs: () => unknown) {
  return {
    resolveInboundDebounceMs: (given: Fields): number => {
      const inbound = fieldsOf(fieldsOf(fieldsOf(given['cfg'])['messages'])['inbound']);
      const ofChannel = fieldsOf(inbound['byChannel'])[String(given['channel'])];
      const set = [given['overrideMs'], ofChannel, inbound['debounceMs']];
      return wholeMs(set.find((one) => wholeMs(one) !== undefined)) ?? 0;
    },
    createInboundDebouncer: <T>(how: Debounced<T>): Debouncer<T> => {
      const make = theirs() as MakeDebouncer | undefined; // as OpenClaw documents it
      const onFlush: Debounced<T>['onFlush'] = (items, createFlush) =>
        flushed(how, items, createFlush, way);
      const debouncer = (make ?? ownDebouncer(clock))({ ...how, onFlush });
      const enqueue = async (item: T): Promise<void> => {
        await debouncer.enqueue(item);
        way.kept(); // it waits, or was handed on
      };
      return { ...debouncer, enqueue };
    },
  };
}

/** Has a channel hand items on. They are lost if that fails, unless they are events that stay in its queue. */
function flushed<T>(
  { onFlush }: Debounced<T>,
  items: T[],
  createFlush: ((flush: Fields) => unknown) | undefined,
  way: MessageWay,
): unknown {
  let result: unknown;
  const create = (flush: Fields): unknown => {
    if (flush['lifecycle'] !== undefined) way.kept();
    return createFlush?.(flush);
  };
  const work = way.carry(
    () => items,
    async () => {
      result = onFlush(items, createFlush && create);
      return isFields(result) && 'completion' in result ? result['completion'] : result;
    },
  );
  work.catch(() => undefined); // who made the debouncer is told by what it gives
  return createFlush === undefined ? work : (result ?? work);
}

function ownDebouncer(clock: Clock): MakeDebouncer {
  return <T>(how: Debounced<T>) => {
    const waiting = new Map<string, { readonly items: T[]; readonly timer: Timer }>();
    const flush = async (items: T[]): Promise<void> => {
      try {
        await how.onFlush(items);
      } catch (error) {
        how.onError?.(error, items);
      }
    };
    const flushKey = async (key: string): Promise<void> => {
      const held = waiting.get(key);
      if (held === undefined) return;
      waiting.delete(key);
      held.timer.clear();
      await flush(held.items);
    };
    const enqueue = async (item: T): Promise<void> => {
      const key = how.buildKey(item);
      const delayMs = wholeMs(how.resolveDebounceMs?.(item)) ?? wholeMs(how.debounceMs) ?? 0;
      const waits = delayMs > 0 && how.shouldDebounce?.(item) !== false;
      if (!key || !waits) {
        if (key) await flushKey(key);
        return flush([item]);
      }
      const held = waiting.get(key) ?? { items: [], timer: new Timer(clock) };
      waiting.set(key, held);
      held.items.push(item);
      held.timer.setIdly(delayMs, () => void flushKey(key));
    };
    return { enqueue, flushKey };
  };
}

function wholeMs(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value)
    ? Math.max(0, Math.trunc(value))
    : undefined;
}
