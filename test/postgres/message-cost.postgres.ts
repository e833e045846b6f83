import { expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/postgres/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { anUpdate } from '../journal/journal-contract.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';
import { speaker } from '../support/speaker.js';
import { sharedDatabase } from './sharing.js';

/** Connections that count their transactions, the statements in and beside them, and how often a transaction waits for answers. */
async function counting(url: string) {
  const inner = connect(url);
  const counts = { transactions: 0, statements: 0, waits: 0, readings: 0, readingsOfSends: 0 };
  const connections: PostgresConnections = {
    ...inner,
    query: (...given) => {
      counts.readings++;
      if (given[0].includes('FROM sluice_sends')) counts.readingsOfSends++;
      return inner.query(...given);
    },
    transaction: (work) => {
      counts.transactions++;
      let underWay = 0;
      return inner.transaction((query) =>
        work(async (...given) => {
          counts.statements++;
          if (underWay++ === 0) counts.waits++;
          return query(...given).finally(() => underWay--);
        }),
      );
    },
  };
  return { counts, connections };
}

it.each([
  ['', undefined],
  [' also if full conversations refuse messages,', 'refuse' as const],
])(
  'a message in a journal that hosts share costs four transactions of few statements if it comes alone,%s (durability §11.5, durability §12.8)',
  async (_, whenFull) => {
    const clock = virtualClock(); // nothing that waits for a time is written before
    const { counts, connections } = await counting(await sharedDatabase());
    const journal = await openPostgresJournal(connections, { clock, leaseMs: 60_000 });
    await using lab = await hostLab({
      ...{ clock, store: journal.store, journal: { opened: journal, dispatches: false } },
      channel: scriptedChannel({ everyHost: true }),
      agents: [{ id: 'main', provider: speaker }],
      ...(whenFull && { lanes: { whenFull } }),
    });
    // a conversation is read while the other one has its message
    const say = (at: number) => lab.say({ text: `message ${at}`, conversation: `c-${at % 2}` });
    for (let at = 0; at < 4; at++) await say(at);
    const messages = 10;
    const before = { ...counts };
    for (let at = 0; at < messages; at++) await say(at);
    // begun, its turn, sending, ended; one that is persisted while its conversation is still read begins by one more
    expect((counts.transactions - before.transactions) / messages).toBeLessThan(4.6);
    expect(lab.ends.every(({ status }) => status === 'answered')).toBe(true);
    expect((counts.statements - before.statements) / messages).toBeLessThanOrEqual(15);
    // the fence and the rows that are read go together
    const waits = counts.waits - before.waits;
    expect(waits).toBeLessThanOrEqual(2 * (counts.transactions - before.transactions));
    expect((counts.readings - before.readings) / messages).toBeLessThanOrEqual(5);
    expect(await journal.keyValues.list('/session-turns', { prefix: '', limit: 10 })).toEqual([]);
    await lab[Symbol.asyncDispose]();
    await journal.close();
  },
);

it('an update whose conversation is counted costs as many statements as any other, also if it is not begun at once (durability §8.2, durability §11.5)', async () => {
  const { counts, connections } = await counting(await sharedDatabase());
  const journal = await openPostgresJournal(connections, {
    ...{ clock: virtualClock(), leaseMs: 60_000 },
  });
  const kept = new Set<string>();
  /** The fewest statements of an update that comes to a lane with some others: a transaction of another kind may run beside one. */
  const leastOf = async (isBegun: boolean, mostOpen?: number): Promise<number> => {
    const costs: number[] = [];
    for (const lane of ['one', 'two', 'three', 'four', 'five']) {
      const before = counts.statements;
      const id = `${lane} ${kept.size}`;
      await journal.accept(anUpdate(id, { lane }), isBegun, mostOpen);
      kept.add(id);
      costs.push(counts.statements - before);
    }
    return Math.min(...costs);
  };
  const least = await leastOf(false);
  expect(least).toBeLessThanOrEqual(3);
  for (const [isBegun, mostOpen] of [[false, 3], [true], [true, 3], [false, 3]] as const)
    expect(await leastOf(isBegun, mostOpen)).toBe(least);
  const dead = await journal.updates({ states: ['dead'] });
  expect(dead).toHaveLength(10); // the fourth and the fifth of each lane
  await journal.close();
});

it('a message that has waited in a journal for its turn looks for no sends of an earlier attempt (durability §7.2)', async () => {
  const clock = virtualClock();
  const { counts, connections } = await counting(await sharedDatabase());
  const journal = await openPostgresJournal(connections, { clock, leaseMs: 60_000 });
  await using lab = await hostLab({
    ...{ clock, store: journal.store, journal: { opened: journal, dispatches: false } },
    lanes: { maxRunning: 1 },
    channel: scriptedChannel({ everyHost: true }),
    agents: [{ id: 'main', provider: speaker }],
  });
  await lab.say({ text: 'first', conversation: 'c-0' });
  const before = counts.readingsOfSends;
  const said = Array.from({ length: 12 }, (_, at) =>
    lab.say({ text: `message ${at}`, conversation: `c-${at}` }),
  );
  await Promise.all(said);
  expect(lab.ends.map(({ status }) => status)).toEqual(Array(13).fill('answered'));
  expect(counts.readingsOfSends).toBe(before);
  await lab[Symbol.asyncDispose]();
  await journal.close();
});

it('messages whose writes share a transaction share their readings, too (durability §11.5)', async () => {
  const { counts, connections } = await counting(await sharedDatabase());
  const journal = await openPostgresJournal(connections, {
    ...{ clock: virtualClock(), leaseMs: 60_000 },
  });
  await using lab = await hostLab({
    ...{
      clock: virtualClock(),
      store: journal.store,
      journal: { opened: journal, dispatches: false },
    },
    channel: scriptedChannel({ everyHost: true }),
    agents: [{ id: 'main', provider: speaker }],
  });
  const conversations = 40;
  const sayAll = (text: string) =>
    Promise.all(
      Array.from({ length: conversations }, (_, at) => lab.say({ text, conversation: `c-${at}` })),
    );
  await sayAll('first');
  const before = counts.readings;
  await sayAll('second');
  expect((counts.readings - before) / conversations).toBeLessThan(1.5);
  expect(lab.ends.map(({ status }) => status)).toEqual(Array(2 * conversations).fill('answered'));
  await lab[Symbol.asyncDispose]();
  await journal.close();
});

it('readings that come together and that the database refuses fail, and those after them do not (durability §11.5)', async () => {
  const { connections } = await counting(await sharedDatabase());
  const journal = await openPostgresJournal(connections, { leaseMs: 60_000 });
  await connections.query('ALTER TABLE sluice_sessions RENAME TO gone');
  const read = () => Promise.allSettled(['a', 'b'].map((key) => journal.store.loadSession(key)));
  expect((await read()).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await connections.query('ALTER TABLE gone RENAME TO sluice_sessions');
  expect((await read()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  await journal.close();
});
