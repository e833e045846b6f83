import { join } from 'node:path';
import { Recent } from '@sluice/sdk/stream/internal';
import { type Clock, type Fields, fieldsOf, Timer } from 'sluice-kernel/internal';
import { accountOf, textOf } from './settings.js';

/** Sessions whose last message is remembered: the oldest are forgotten first. */
const mostSessions = 10_000;

interface Activity {
  inboundAt: number | null;
  outboundAt: number | null;
}

/** `channel.activity`: when an account last took something in and sent something, since this plugin was loaded. */
export function activityOf(clock: Clock) {
  const known = new Map<string, Activity>();
  const entryOf = (given: Fields): Activity => {
    const key = JSON.stringify([given['channel'], accountOf(given['accountId'])]);
    const entry = known.get(key) ?? { inboundAt: null, outboundAt: null };
    known.set(key, entry);
    return entry;
  };
  return {
    record: (given: Fields): void => {
      const at = typeof given['at'] === 'number' ? given['at'] : clock.now();
      if (given['direction'] === 'inbound') entryOf(given).inboundAt = at;
      if (given['direction'] === 'outbound') entryOf(given).outboundAt = at;
    },
    get: (given: Fields): Activity => ({ ...entryOf(given) }),
  };
}

/**
 * `channel.session`: the time of the last message of a session, since this plugin was loaded. The sessions themselves are the
 * host's: nothing is written.
 */
export function sessionsOf(clock: Clock, stateDir: string) {
  const updatedAt = new Recent<string, number>(mostSessions);
  const record = async (given: Fields): Promise<void> => {
    const key = textOf(given['sessionKey'])?.toLowerCase();
    if (key !== undefined) updatedAt.set(key, clock.now());
  };
  return {
    resolveStorePath: (store?: unknown, of?: unknown): string => {
      const agent = textOf(fieldsOf(of)['agentId']) ?? 'main';
      return (
        textOf(store)?.replaceAll('{agentId}', agent) ?? join(stateDir, 'sessions', `${agent}.json`)
      );
    },
    readSessionUpdatedAt: (given: Fields): number | undefined =>
      updatedAt.get(textOf(given['sessionKey'])?.toLowerCase() ?? ''),
    recordInboundSession: record,
    recordSessionMetaFromInbound: record,
    updateLastRoute: record,
  };
}

interface Debounced<T> {
  readonly debounceMs: number;
  readonly buildKey: (item: T) => string | null | undefined;
  readonly shouldDebounce?: (item: T) => boolean;
  readonly resolveDebounceMs?: (item: T) => number | undefined;
  readonly onFlush: (items: T[]) => unknown;
  readonly onError?: (error: unknown, items: T[]) => void;
}

/** `channel.debounce`: messages of one sender that come shortly after one another are handed on together. */
export function debounceOf(clock: Clock) {
  return {
    resolveInboundDebounceMs: (given: Fields): number => {
      const inbound = fieldsOf(fieldsOf(fieldsOf(given['cfg'])['messages'])['inbound']);
      const ofChannel = fieldsOf(inbound['byChannel'])[String(given['channel'])];
      const set = [given['overrideMs'], ofChannel, inbound['debounceMs']];
      return wholeMs(set.find((one) => wholeMs(one) !== undefined)) ?? 0;
    },
    createInboundDebouncer: <T>(how: Debounced<T>) => {
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
    },
  };
}

function wholeMs(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value)
    ? Math.max(0, Math.trunc(value))
    : undefined;
}
