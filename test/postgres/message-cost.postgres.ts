import { expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/host/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';
import { speaker } from '../support/speaker.js';
import { sharedDatabase } from './sharing.js';

/** Connections that count their transactions, and the statements in and beside them. */
async function counting(url: string) {
  const inner = connect(url);
  const counts = { transactions: 0, statements: 0, readings: 0 };
  const connections: PostgresConnections = {
    ...inner,
    query: (...given) => {
      counts.readings++;
      return inner.query(...given);
    },
    transaction: (work) => {
      counts.transactions++;
      return inner.transaction((query) =>
        work((...given) => {
          counts.statements++;
          return query(...given);
        }),
      );
    },
  };
  return { counts, connections };
}

it('a message in a journal that hosts share costs four transactions of few statements if it comes alone (durability §11.5, durability §12.8)', async () => {
  const clock = virtualClock(); // nothing that waits for a time is written before
  const { counts, connections } = await counting(await sharedDatabase());
  const journal = await openPostgresJournal(connections, { clock, leaseMs: 60_000 });
  await using lab = await hostLab({
    ...{ clock, journal, store: journal.store, journalDispatches: false },
    channel: scriptedChannel({ everyHost: true }),
    agents: [{ id: 'main', provider: speaker }],
  });
  // a conversation is read while the other one has its message
  const say = (at: number) => lab.say({ text: `message ${at}`, conversation: `c-${at % 2}` });
  for (let at = 0; at < 4; at++) await say(at);
  const messages = 10;
  const before = { ...counts };
  for (let at = 0; at < messages; at++) await say(at);
  // begun, its turn, sending, ended; one that is kept while its conversation is still read begins by one more
  expect((counts.transactions - before.transactions) / messages).toBeLessThan(4.6);
  expect(lab.ends.every(({ status }) => status === 'answered')).toBe(true);
  expect((counts.statements - before.statements) / messages).toBeLessThanOrEqual(15);
  expect((counts.readings - before.readings) / messages).toBeLessThanOrEqual(5);
  expect(await journal.keyValues.list('/session-turns', { prefix: '', limit: 10 })).toEqual([]);
  await lab[Symbol.asyncDispose]();
  await journal.close();
});
