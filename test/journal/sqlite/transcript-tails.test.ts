import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histories } from '../../../src/host/transcript/histories.js';
import type { HistoryBounds } from '../../../src/host/transcript/history.js';
import { GroupCommit } from '../../../src/journal/commit/group-commit.js';
import { sessionStore } from '../../../src/journal/commit/session-store.js';
import type { SqliteDatabase } from '../../../src/journal/database/open-sqlite.js';
import { openJournal, openSqlite, type Store } from '../../../src/journal/index.js';
import type { CleanText } from '../../../src/journal/rows/clean-body.js';
import { SqliteSessions } from '../../../src/journal/sqlite/sqlite-sessions.js';
import { systemClock } from '../../../src/kernel/internal.js';
import { fence } from '../../support/fences.js';
import { testFolder } from '../../support/folder.js';

interface CountedStore extends AsyncDisposable {
  readonly store: Store;
  /** The messages whose bodies were read from the file since the last call. */
  bodiesRead(): number;
  /** Lets the next commit fail. */
  failNext(): void;
  /** The same file without anything that this store holds in memory. */
  readonly fresh: Store;
}

async function countedStore(
  mostCharacters?: number,
  clean: CleanText = (text) => text,
): Promise<CountedStore> {
  const path = join(testFolder(), 'sluice.db');
  await (await openJournal(path)).close();
  let read = 0;
  let isFailing = false;
  const real = openSqlite(path);
  const database = new Proxy(real, {
    get: (target, key) => {
      if (key === 'prepare')
        return (sql: string) => {
          const statement = target.prepare(sql);
          const stored: typeof statement.stored = (...values) => {
            const rows = statement.stored(...values);
            read += rows.filter(({ body }) => body !== undefined).length;
            return rows;
          };
          return { ...statement, stored };
        };
      if (key === 'transaction')
        return (work: () => unknown) =>
          target.transaction(() => {
            const value = work();
            if (isFailing) {
              isFailing = false;
              throw new Error('the disk is gone');
            }
            return value;
          });
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  }) as SqliteDatabase; // it differs in what it counts
  const others = openSqlite(path);
  const storeOf = (on: SqliteDatabase, most?: number) => {
    const sessions = new SqliteSessions(on, most);
    const commits = new GroupCommit(on, { sessions }, { clock: systemClock });
    return { commits, store: sessionStore(commits, sessions, clean) };
  };
  const { commits, store } = storeOf(database, mostCharacters);
  return {
    store,
    get fresh() {
      return storeOf(others, 0).store;
    },
    bodiesRead: () => {
      const since = read;
      read = 0;
      return since;
    },
    failNext: () => {
      isFailing = true;
    },
    [Symbol.asyncDispose]: async () => {
      await commits.close();
      real.close();
      others.close();
    },
  };
}

const entry = (content: string, role: 'user' | 'assistant' = 'user') => ({ role, content });
const write = async (store: Store, sessionId: string, contents: readonly string[]) => {
  await Promise.allSettled(
    contents.map((content) =>
      store.appendMessage(sessionId, entry(content), { fence, mayWait: true }),
    ),
  );
};
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `${from + at}`);
const readHistory = async (store: Store, sessionId: string, bounds: HistoryBounds) =>
  new Histories(store, bounds).read(sessionId, await store.transcriptSize(sessionId));
const textsOf = async (store: Store, sessionId: string, bounds = {}) =>
  (await readHistory(store, sessionId, bounds)).history.map(({ content }) => content);

describe('the messages of sessions that take turns (durability §1.17)', () => {
  it('are read from the file once: a later turn reads none, and gets what it wrote', async () => {
    await using lab = await countedStore();
    const { store } = lab;
    const writing = write(store, 's', numbers(0, 300));
    store.hurry?.();
    await writing;
    expect(await textsOf(store, 's')).toEqual(numbers(100, 300));
    expect(lab.bodiesRead()).toBe(200);
    for (let turn = 0; turn < 5; turn++) {
      const from = 300 + 4 * turn;
      const turnWrites = write(store, 's', numbers(from, from + 4));
      store.hurry?.();
      await turnWrites;
      expect(await textsOf(store, 's')).toEqual(numbers(from - 196, from + 4));
      expect(await store.transcriptSize('s')).toEqual({ messages: from + 4, prompts: from + 4 });
    }
    expect(lab.bodiesRead()).toBe(0);
  });

  it('are frozen, because each turn gets the same objects', async () => {
    await using lab = await countedStore();
    await lab.store.appendMessage(
      's',
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { fence },
    );
    const [first] = await lab.store.readTranscript('s', { last: 1 });
    expect(Object.isFrozen(first) && Object.isFrozen(first?.content)).toBe(true);
    expect((await lab.store.readTranscript('s', { last: 1 }))[0]).toBe(first);
  });

  it('are held without the secrets that the file does not have, either (§20.8)', async () => {
    await using lab = await countedStore(undefined, (text) =>
      text.replaceAll('hunter2', '[secret]'),
    );
    await lab.store.appendMessage('s', entry('a'), { fence });
    await textsOf(lab.store, 's');
    await lab.store.appendMessage('s', entry('it is hunter2'), { fence });
    expect(await textsOf(lab.store, 's')).toEqual(['a', 'it is [secret]']);
    expect(await textsOf(lab.fresh, 's')).toEqual(['a', 'it is [secret]']);
  });

  it('are let go of when they grow beyond the bound, of the session first that was read first', async () => {
    const long = 'x'.repeat(300);
    await using lab = await countedStore(2_000);
    for (const id of ['a', 'b', 'c']) await write(lab.store, id, [long, long]);
    for (const id of ['a', 'b', 'c']) await textsOf(lab.store, id);
    lab.bodiesRead();
    await textsOf(lab.store, 'a');
    await write(lab.store, 'a', [long]); // now there is too much
    await textsOf(lab.store, 'c');
    await textsOf(lab.store, 'a');
    expect(lab.bodiesRead()).toBe(0);
    await textsOf(lab.store, 'b');
    expect(lab.bodiesRead()).toBe(2);
  });

  it('are those of the file, whatever is written, read, replaced or not persisted', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('write'),
          id: fc.nat(2),
          count: fc.nat(9),
          fails: fc.boolean(),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('read'),
          id: fc.nat(2),
          count: fc.nat(50),
          fails: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('reset'),
          id: fc.nat(2),
          count: fc.nat(1),
          fails: fc.boolean(),
        }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(3_000), async (steps, most) => {
        await using lab = await countedStore(most);
        const { store } = lab;
        const session = (key: number, sessionId: string) => ({
          sessionKey: `k${key}`,
          sessionId,
          agentId: 'main',
          context: {},
          memoryKeys: [],
          metadata: {},
        });
        let said = 0;
        const idOf = (key: number) => `${key}.${generations.get(key) ?? 0}`;
        const generations = new Map<number, number>();
        for (const { do: what, id, count, fails } of steps) {
          const sessionId = idOf(id);
          if (what === 'write') {
            const contents = numbers(said, said + count);
            said += count;
            if (fails && count > 0) lab.failNext();
            const writing = write(store, sessionId, contents);
            store.hurry?.();
            await writing;
          } else if (what === 'reset') {
            generations.set(id, (generations.get(id) ?? 0) + 1);
            const next = idOf(id);
            await store.saveSession(session(id, sessionId), { fence });
            await store.saveSession(session(id, next), { fence });
          }
          const expected = lab.fresh;
          const key = `k${id}`;
          expect(await store.loadSession(key)).toEqual(await expected.loadSession(key));
          for (const one of [sessionId, idOf(id)]) {
            const part = { last: count, skip: fails ? 3 : 0 };
            expect(await store.readTranscript(one, part)).toEqual(
              await expected.readTranscript(one, part),
            );
            const size = await store.transcriptSize(one);
            expect(size).toEqual(await expected.transcriptSize(one));
            expect(size.messages).toBe((await expected.readTranscript(one)).length);
            const bounds = { maxMessages: count };
            expect(await readHistory(store, one, bounds)).toEqual(
              await readHistory(expected, one, bounds),
            );
          }
        }
      }),
      { numRuns: 10 },
    );
  });
});
