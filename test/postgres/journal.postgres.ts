import type { Clock } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import type { UpdateFilter } from '../../src/journal/index.js';
import {
  openPostgresJournal,
  type PostgresConnections,
  type PostgresJournal,
} from '../../src/postgres/index.js';
import { readPostgresJournal, tendPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { virtualClock } from '../../src/testing/index.js';
import { anUpdate, aSend, settableClock } from '../journal/journal-contract.js';
import { fence, fenceOf } from '../support/fences.js';
import { hostLab } from '../support/host-lab.js';
import { PostgresServer } from '../support/postgres-server.js';
import { endLeases, newDatabase } from './databases.js';

const patiently = { timeout: 60_000, interval: 10 };

const idsOf = async ({ updates }: Pick<PostgresJournal, 'updates'>, filter?: UpdateFilter) =>
  (await updates(filter)).map(({ eventId }) => eventId);

/** A journal whose lease nobody renews, as that of a host that sleeps. It outlives any pause: a test ends it in the database. */
const sleeping = (url: string) =>
  openPostgresJournal(connect(url), { leaseMs: 60_000, clock: virtualClock() });

/** Connections that count their statements, and lose a commit when they are told to. */
function fragile(url: string) {
  const inner = connect(url);
  const lost = () => Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
  let statements = 0;
  let losing: 'no' | 'before the commit' | 'after the commit' = 'no';
  const connections: PostgresConnections = {
    ...inner,
    transaction: async (work) => {
      const now = losing;
      losing = 'no';
      const result = await inner.transaction(async (query) => {
        const made = await work((sql, values) => {
          statements++;
          return query(sql, values);
        });
        if (now === 'before the commit') throw lost();
        return made;
      });
      if (now === 'after the commit') throw lost();
      return result;
    },
  };
  return {
    connections,
    lose: (when: typeof losing) => {
      losing = when;
    },
    statementsOf: async (work: () => Promise<unknown>) => {
      statements = 0;
      await work();
      return statements;
    },
  };
}

describe('the tables of a journal in PostgreSQL', () => {
  it('are made once, also by two at once (durability §11.1)', async () => {
    const url = await newDatabase('template1');
    await expect(openPostgresJournal(connect(url))).rejects.toMatchObject({
      code: 'not-a-journal',
      message: expect.stringContaining('sluice journal migrate'),
    });
    const connections = connect(url);
    const made = await Promise.all([migratePostgres(connections), migratePostgres(connections)]);
    expect(made.map(({ from }) => from).sort()).toEqual([0, 5]);
    await connections.close();
    const journal = await openPostgresJournal(connect(url));
    await journal.accept(anUpdate('a'));
    await journal.close();
  });

  it.each([3, 6])('of version %i are refused (durability §11.1)', async (version) => {
    const url = await newDatabase();
    const connections = connect(url);
    await connections.query('UPDATE sluice_journal SET version = $1', [version]);
    const refused = {
      code: 'not-a-journal',
      message: expect.stringContaining(`its tables have version ${version}`),
    };
    await expect(migratePostgres(connections)).rejects.toMatchObject(refused);
    await expect(openPostgresJournal(connect(url))).rejects.toMatchObject(refused);
    await expect(readPostgresJournal(connect(url))).rejects.toMatchObject(refused);
    await connections.close();
  });
});

describe('the lease of a journal in PostgreSQL', () => {
  it('keeps a second host out as long as the first renews it (durability §11.2)', async () => {
    const url = await newDatabase();
    const first = await openPostgresJournal(connect(url), { leaseMs: 60_000 }); // longer than any pause of the machine
    await expect(openPostgresJournal(connect(url), { leaseMs: 500 })).rejects.toMatchObject({
      code: 'journal-in-use',
    });
    await first.accept(anUpdate('a'));
    await first.close();
    const second = await openPostgresJournal(connect(url)); // released: it need not end
    expect(await idsOf(second)).toEqual(['a']);
    await second.close();
  });

  it('that has ended is taken also by a host whose tries take longer than that (durability §11.2)', async () => {
    const url = await newDatabase();
    const inner = connect(url);
    const died = [
      `INSERT INTO sluice_hosts (host_id, lease_until, is_taking, about, version)
        VALUES ('died', now() + interval '1 hour', true, '{}', 4)`,
      `INSERT INTO sluice_parts (part, host_id, epoch) VALUES (0, 'died', nextval('sluice_epochs'))`,
    ];
    for (const row of died) await inner.query(row);
    let nowMs = 0;
    const connections: PostgresConnections = {
      ...inner,
      transaction: async (work) => {
        const result = await inner.transaction(work);
        nowMs += 10_000;
        await inner.query('UPDATE sluice_hosts SET lease_until = now()');
        return result;
      },
    };
    // on a busy machine, the end of the lease and the next try come in one turn of the event loop
    const atOnce: Clock['setTimeout'] = (call, ms) => setTimeout(call, ms < 1_000 ? 0 : ms);
    const clock = { ...virtualClock(), monotonicMs: () => nowMs, setTimeout: atOnce };
    const second = await openPostgresJournal(connections, { leaseMs: 5_000, clock });
    expect(second.ownership.epochOf(0)).toBeGreaterThan(0); // it may write when a renewal is persisted in time
    await second.close();
  });

  it('ends by the clock of the database, and then an old host writes nothing more (durability §11.3)', async () => {
    const url = await newDatabase();
    const first = await sleeping(url);
    await first.accept(anUpdate('a'), true);
    await endLeases(url);
    const second = await openPostgresJournal(connect(url));
    const lost = { code: 'journal-lost' };
    for (const write of [
      () => first.accept(anUpdate('b')),
      () => first.prepare(fence, aSend('s', { correlationId: 'a' })),
      () => first.endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' }),
      () => first.store.appendMessage('s1', { role: 'user', content: 'late' }, { fence }),
      () =>
        first.keyValues.write('acme', 'k', { body: '1' }, { quota: { maxKeys: 9, maxBytes: 99 } }),
    ])
      await expect(write()).rejects.toMatchObject(lost);
    expect(first.problem()).toMatchObject(lost);
    expect(first.lost?.reason).toMatchObject(lost);
    expect(second.lost?.aborted).toBe(false);
    expect(await second.updates()).toMatchObject([{ eventId: 'a', state: 'handling' }]);
    expect(await second.sends()).toEqual([]);
    expect(await second.store.readTranscript('s1')).toEqual([]);
    expect(await second.keyValues.namespaces()).toEqual([]);
    expect(await second.begin('a')).toMatchObject({ attempts: 2 });
    await first.close(); // takes nothing away from the other
    await second.accept(anUpdate('c'));
    expect(second.problem()).toBeUndefined();
    await second.close();
  });

  it('is counted by the host from before its renewal was sent, whatever its time of day is (durability §11.4)', async () => {
    const url = await newDatabase();
    const clock = settableClock();
    const { connections } = fragile(url);
    let isAway = false;
    const away = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    const journal = await openPostgresJournal(
      {
        ...connections,
        transaction: (work) => (isAway ? away() : connections.transaction(work)),
      },
      { clock, leaseMs: 5_000 },
    );
    clock.set(-86_400_000);
    expect(journal.problem()).toBeUndefined();
    clock.set(2 * 86_400_000);
    expect(journal.problem()).toBeUndefined();
    isAway = true;
    await clock.advance(5_000);
    await expect.poll(() => journal.problem(), patiently).toMatchObject({ code: 'database-io' });
    isAway = false;
    await expect
      .poll(async () => {
        await clock.advance(1_000);
        return journal.problem();
      }, patiently)
      .toBeUndefined();
    await journal.close();
  });
});

describe('the writes of a journal in PostgreSQL', () => {
  it('that come together take as many statements as few of them (durability §11.5)', async () => {
    const { connections, statementsOf } = fragile(await newDatabase());
    const journal = await openPostgresJournal(connections, { clock: virtualClock() });
    const ids = Array.from({ length: 200 }, (_, at) => `u-${at}`);
    const accepted = await statementsOf(() =>
      Promise.all(ids.map((id) => journal.accept(anUpdate(id)))),
    );
    expect(accepted).toBeLessThanOrEqual(4);
    const others = await statementsOf(() =>
      Promise.all(
        ids.flatMap((id) => [
          journal.begin(id),
          journal.prepare(fence, aSend(`${id}.1`, { correlationId: id }), true),
          journal.endSend(fence, `${id}.1`, { state: 'sent' }),
          journal.endUpdate(fenceOf(id), { isDead: false, outcome: 'answered' }),
        ]),
      ),
    );
    expect(others).toBeLessThanOrEqual(5); // one of them looks for old rows
    expect((await journal.updates({ states: ['ended'] })).length).toBe(200);
    expect((await journal.sends({ states: ['sent'] })).length).toBe(200);
    const seqs = (await journal.updates()).map(({ eventId }) => eventId);
    expect(seqs).toEqual(ids); // in the order of the calls
    await journal.close();
  });

  it('to sessions, transcripts and values take as many statements as one of them (durability §11.5)', async () => {
    const { connections, statementsOf } = fragile(await newDatabase());
    const journal = await openPostgresJournal(connections, { clock: virtualClock() });
    const { store, keyValues } = journal;
    await expect.poll(() => journal.stats().commits, patiently).toBe(4); // old rows are looked for first
    const session = { agentId: 'main', context: {}, memoryKeys: [], metadata: {} };
    const quota = { maxKeys: 1_000, maxBytes: 1_000_000 };
    const written = (many: number, round: string) =>
      statementsOf(() =>
        Promise.all(
          Array.from({ length: many }, (_, at) => `${at}`).flatMap((key) => [
            store.saveSession(
              { ...session, sessionKey: key, sessionId: `${key}-${round}` },
              { fence },
            ),
            ...['one', 'two'].map((content) =>
              store.appendMessage(`${key}-${round}`, { role: 'user', content }, { fence }),
            ),
            keyValues.write('/turns', key, { body: round }, {}),
            keyValues.write('counted', key, { body: round }, { quota }),
          ]),
        ),
      );
    const alone = await written(1, 'a');
    expect(alone).toBe(5);
    expect(await written(150, 'b')).toBe(alone);
    expect(await journal.keyValues.namespaces()).toMatchObject([
      { namespace: 'counted', keys: 150 },
    ]);
    expect((await keyValues.list('/turns', { prefix: '', limit: 1_000 })).length).toBe(150);
    expect(await store.transcriptSize('0-a')).toEqual({ messages: 0, prompts: 0 });
    const { prompts, messages } = await store.transcriptSize('149-b');
    expect([prompts, messages]).toEqual([2, 2]);
    expect(await store.readTranscript('7-b', { last: 1 })).toMatchObject([{ content: 'two' }]);
    await journal.close();
  });

  it('to a transcript whose session another one replaces meanwhile leave nothing of it (durability §5.4)', async () => {
    const journal = await openPostgresJournal(connect(await newDatabase()));
    const { store } = journal;
    const of = { agentId: 'main', context: {}, memoryKeys: [], metadata: {}, sessionKey: 'key' };
    await store.saveSession({ ...of, sessionId: 'old' }, { fence });
    await Promise.all([
      store.appendMessage('old', { role: 'user', content: 'one' }, { fence }),
      store.saveSession({ ...of, sessionId: 'passing' }, { fence }),
      store.appendMessage('passing', { role: 'user', content: 'two' }, { fence }),
      store.saveSession({ ...of, sessionId: 'new' }, { fence }),
      store.appendMessage('new', { role: 'user', content: 'three' }, { fence }),
    ]);
    const left = await Promise.all(['old', 'passing', 'new'].map((id) => store.readTranscript(id)));
    expect(left).toMatchObject([[], [], [{ content: 'three' }]]);
    expect((await store.loadSession('key'))?.sessionId).toBe('new');
    await journal.close();
  });

  it('of one value by two hosts at once are one, and the other finds it (durability §11.5)', async () => {
    const url = await newDatabase();
    const admin = connect(url);
    await migratePostgres(admin, 4);
    await admin.close();
    const journals = await Promise.all([1, 2].map(() => openPostgresJournal(connect(url))));
    const keys = Array.from({ length: 40 }, (_, at) => `k-${at}`);
    const ends = await Promise.all(
      journals.flatMap(({ keyValues }, at) =>
        (at === 0 ? keys : keys.toReversed()).map((key) =>
          keyValues.write('/turns', key, { body: `${at}` }, { expected: null }),
        ),
      ),
    );
    expect(ends.filter(({ status }) => status === 'written')).toHaveLength(40);
    expect(ends.filter(({ status }) => status === 'conflict')).toHaveLength(40);
    for (const journal of journals) await journal.close();
  });

  it('fail alone if the database refuses one of them (durability §11.5)', async () => {
    const journal = await openPostgresJournal(connect(await newDatabase()));
    const bad = anUpdate('bad', { channel: undefined as never });
    const taken = await Promise.allSettled(
      [anUpdate('a'), bad, anUpdate('b')].map((update) => journal.accept(update)),
    );
    expect(taken.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(taken[1]).toMatchObject({ reason: { code: 'database-constraint' } });
    expect(await idsOf(journal)).toEqual(['a', 'b']);
    await journal.close();
  });

  it.each(['after the commit', 'before the commit'] as const)(
    'whose commit has no answer are asked for by their id: lost %s (durability §11.7)',
    async (when) => {
      const { connections, lose } = fragile(await newDatabase());
      const journal = await openPostgresJournal(connections, { leaseMs: 60_000 });
      lose(when);
      const accepted = await journal.accept(anUpdate('a')).catch(({ code }) => ({ code }));
      const isKept = when === 'after the commit';
      expect(accepted).toEqual(isKept ? { status: 'accepted' } : { code: 'database-io' });
      expect(await idsOf(journal)).toEqual(isKept ? ['a'] : []);
      await journal.close();
    },
  );

  it('are persisted without secrets, and without characters that the database has not (durability §4.5, durability §11.8)', async () => {
    const url = await newDatabase();
    const journal = await openPostgresJournal(connect(url), { secrets: ['hunter22'] });
    await journal.accept(anUpdate('a', { body: '{"text":"it is hunter22"}' }));
    await journal.prepare(
      fence,
      aSend('s', { correlationId: 'a', body: '{"content":"hunter22"}' }),
    );
    await journal.store.appendMessage('s1', { role: 'user', content: 'hunter22' }, { fence });
    await journal.endUpdate(fenceOf('a'), {
      isDead: true,
      outcome: 'failed',
      reason: 'a\u0000 hunter22',
    });
    expect(await journal.updates()).toMatchObject([
      { body: '{"text":"it is [secret]"}', reason: 'a\ufffd [secret]' },
    ]);
    expect(await journal.sends()).toMatchObject([{ body: '{"content":"[secret]"}' }]);
    expect(await journal.store.readTranscript('s1')).toMatchObject([{ content: '[secret]' }]);
    await journal.close();
  });

  it.each(['a\u0000b', 'a\ud800b'])(
    'of a value whose key %j the database cannot keep as it is find it again (durability §11.8)',
    async (key) => {
      const journal = await openPostgresJournal(connect(await newDatabase()));
      const { keyValues } = journal;
      const write = (body: string, expected: string | null) =>
        keyValues.write('/turns', key, { body }, { expected });
      expect(await write('1', null)).toEqual({ status: 'written' });
      expect(await write('2', null)).toEqual({ status: 'conflict' });
      const { version = null } = (await keyValues.get('/turns', key)) ?? {};
      expect(await write('2', version)).toEqual({ status: 'written' });
      expect(await keyValues.get('/turns', key)).toMatchObject({ body: '2' });
      await keyValues.write('/turns', key, undefined, {});
      expect(await keyValues.get('/turns', key)).toBeUndefined();
      await journal.close();
    },
  );

  it('of a command beside the host are seen with its next renewal (durability §11.10)', async () => {
    const url = await newDatabase();
    const journal = await openPostgresJournal(connect(url));
    await journal.accept(anUpdate('a'));
    await journal.endUpdate(fenceOf('a'), { isDead: true, outcome: 'failed' });
    expect(journal.changedOutside()).toBe(false);
    const beside = await tendPostgresJournal(connect(url));
    expect(await beside.retry('a')).toBe(true);
    await expect.poll(() => journal.changedOutside(), patiently).toBe(true);
    expect(journal.changedOutside()).toBe(false);
    await journal.endUpdate(fenceOf('a'), { isDead: true, outcome: 'failed' });
    expect(await beside.purge()).toBe(1);
    await beside.close();
    await journal.close();
  });
});

describe('a host on PostgreSQL', () => {
  it('answers, and the next host goes on with what it left (durability §9.1, durability §11.2)', async () => {
    const url = await newDatabase();
    const first = await openPostgresJournal(connect(url));
    {
      await using lab = await hostLab({ journal: first, store: first.store });
      expect(await lab.say('hello')).toMatchObject({ status: 'answered' });
      expect(lab.texts()).toEqual(['hello']);
    }
    await first.close().catch(() => undefined); // the host has closed it
    const second = await openPostgresJournal(connect(url));
    expect(await second.updates()).toMatchObject([{ state: 'ended', outcome: 'answered' }]);
    expect(await second.sends()).toMatchObject([{ state: 'sent' }]);
    await second.close();
  });

  it('takes nothing in while the database is away, and goes on when it is back (durability §11.6)', async () => {
    await using server = await PostgresServer.start();
    const connections = connect(server.url());
    await migratePostgres(connections);
    const journal = await openPostgresJournal(connections);
    await journal.accept(anUpdate('a'));
    for (const signal of ['SIGQUIT', 'SIGINT'] as const) {
      await server.halt(signal);
      await expect(journal.accept(anUpdate(`lost ${signal}`))).rejects.toMatchObject({
        code: 'database-io',
      });
      expect(journal.problem()).toMatchObject({ code: 'database-io' });
      await server.run();
      await expect.poll(() => journal.problem(), patiently).toBeUndefined();
      await journal.accept(anUpdate(signal));
    }
    expect(await idsOf(journal)).toEqual(['a', 'SIGQUIT', 'SIGINT']);
    await journal.close();
  });
});
