import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import {
  type Journal,
  memoryJournal,
  memoryStore,
  openJournal,
  type Store,
} from '../../../src/journal/index.js';
import type { TranscriptEntry } from '../../../src/sdk/stream/index.js';
import { fence } from '../../support/fences.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

/** The cost of one message, counted. */
interface Cost {
  /** Entries of a transcript that the store gave. */
  readonly read: number;
  /** Times that anybody looked at one of them, or took it out of a list that the store gave. */
  readonly visited: number;
  /** Characters that were written of dispatches. */
  readonly written: number;
}

/** Counts what is done with a store's transcripts, and what a journal gets. */
function meter() {
  const counts = { read: 0, visited: 0, written: 0 };
  const watchedEntry = (entry: TranscriptEntry): TranscriptEntry =>
    Object.defineProperty({ ...entry }, 'role', {
      enumerable: true,
      get: () => {
        counts.visited++;
        return entry.role;
      },
    });
  const watchedList = (entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] =>
    new Proxy(entries.map(watchedEntry), {
      get: (target, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) counts.visited++;
        return Reflect.get(target, key, receiver);
      },
    });
  return {
    counts,
    store: (store: Store): Store => ({
      ...store,
      readTranscript: async (sessionId, part) => {
        const entries = await store.readTranscript(sessionId, part);
        counts.read += entries.length;
        return watchedList(entries);
      },
    }),
    journal: (journal: Journal): Journal =>
      new Proxy(journal, {
        get: (target, key) => {
          const member: unknown = Reflect.get(target, key, target);
          if (typeof member !== 'function') return member;
          return (...args: readonly unknown[]): unknown => {
            if (key === 'dispatched') counts.written += JSON.stringify(args).length;
            return Reflect.apply(member, target, args);
          };
        },
      }),
  };
}

const stores: readonly (readonly [string, () => Promise<{ store: Store; journal: Journal }>])[] = [
  ['in memory', async () => ({ store: memoryStore(), journal: memoryJournal() })],
  [
    'in a journal',
    async () => {
      const journal = await openJournal(':memory:');
      return { store: journal.store, journal };
    },
  ],
];

describe('the cost of a message in a long conversation (§15.9)', () => {
  it.each(stores)(
    'B1b: of ten thousand messages %s the last costs what one of the first hundred did, in what is read, looked at and written',
    {
      timeout: 300_000,
    },
    async (_, open) => {
      const { store, journal } = await open();
      const meters = meter();
      const channel = scriptedChannel();
      let wake: () => void = () => undefined;
      const host = createHost({
        agents: [{ id: 'main', provider: echoProvider() }],
        channels: [channel],
        store: meters.store(store),
        journal: meters.journal(journal),
        onMessageEnd: () => wake(),
      });
      await host.start();
      let said = 0;
      const say = async (): Promise<Cost> => {
        const before = { ...meters.counts };
        const ended = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await channel.receive({ text: 'as long as any other' }, `${++said + 100_000}`);
        await ended;
        const { read, visited, written } = meters.counts;
        return {
          read: read - before.read,
          visited: visited - before.visited,
          written: written - before.written,
        };
      };
      const costs = async (count: number): Promise<readonly Cost[]> => {
        const all: Cost[] = [];
        while (all.length < count) all.push(await say());
        return all;
      };
      const first = await costs(100);
      const { sessionId = '' } = (await store.loadSession(await sessionKeyOf(journal))) ?? {};
      const turn = (await store.readTranscript(sessionId)).slice(0, 4);
      expect(turn.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'toolResult',
        'assistant',
      ]);
      const appended: Promise<void>[] = [];
      for (let at = 100; at < 9_990; at++)
        for (const entry of turn) appended.push(store.appendMessage(sessionId, entry, { fence }));
      await Promise.all(appended);
      const [jump, ...last] = await costs(10); // the first reads as if the host were new
      expect(jump?.read).toBe(200);
      expect((await store.transcriptSize(sessionId)).prompts).toBe(10_000);
      const most = (of: readonly Cost[], what: keyof Cost) =>
        Math.max(...of.map((cost) => cost[what]));
      expect(most(first, 'read')).toBe(4);
      for (const what of ['read', 'visited'] as const)
        expect(most(last, what), what).toBeLessThanOrEqual(most(first, what));
      expect(most(last, 'written')).toBeLessThan(most(first, 'written') * 1.05); // ids and times have more digits
      await host.stop();
    },
  );
});

/** The key of the one session that dispatches tell of. */
async function sessionKeyOf(journal: Journal): Promise<string> {
  const [started] = await journal.dispatches({ family: 'session.started' });
  return JSON.parse(started?.body ?? '{}').event.payload.sessionKey;
}
