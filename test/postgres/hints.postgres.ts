import { describe, expect, inject, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openUpdates } from '../../src/journal/journal.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/postgres/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { anUpdate } from '../journal/journal-contract.js';
import { hostLab } from '../support/host-lab.js';
import { PostgresProxy } from '../support/postgres-proxy.js';
import { scriptedChannel } from '../support/scripted-channel.js';
import { directUrl } from './databases.js';
import { sharedDatabase } from './sharing.js';

const patiently = { timeout: 60_000, interval: 100 }; // fewer steps than milliseconds to the next renewal
const leaseMs = 600_000; // nothing of this depends on the time of the machine

/** Connections that list what they hear. Their looks for work may be made to find nothing. */
function heeding(url: string, listenUrl = url) {
  const { listen, close } = connect(listenUrl);
  const inner = connect(url);
  const seen = { heard: [] as (string | undefined)[], isBlind: false, asking: 0 };
  const ask: PostgresConnections['query'] = async (sql, values) => {
    seen.asking++;
    try {
      return await inner.query(sql, values);
    } finally {
      seen.asking--;
    }
  };
  const connections: PostgresConnections = {
    ...inner,
    query: (sql, values) =>
      seen.isBlind && sql.includes('pg_snapshot_xmin')
        ? Promise.resolve([{ xmin: '0', is_there: false }])
        : ask(sql, values),
    listen: (channel, heard) =>
      listen?.(channel, (told) => {
        seen.heard.push(told);
        heard(told);
      }),
    close: async () => {
      await close();
      await inner.close();
    },
  };
  return { connections, seen };
}

async function hostOn({ connections, seen }: ReturnType<typeof heeding>) {
  const clock = virtualClock();
  const journal = await openPostgresJournal(connections, { leaseMs, clock });
  const channel = scriptedChannel({ everyHost: true });
  const lab = await hostLab({ journal, store: journal.store, channel, clock });
  return {
    ...{ seen, journal, channel, clock, lab },
    partitions: () => journal.ownership.partitions().length,
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]();
      await journal.close().catch(() => undefined);
    },
  };
}

type TestHost = Awaited<ReturnType<typeof hostOn>>;

/** Two hosts with half of the partitions each. The second one listens through a proxy, if there is one. */
async function twoHosts(url: string, proxy?: PostgresProxy) {
  const first = await hostOn(heeding(url));
  const second = await hostOn(heeding(url, proxy?.url(url)));
  await expect.poll(() => sharesOf(first, second), patiently).toEqual([4, 4]);
  return { first, second, [Symbol.asyncDispose]: () => endOf(first, second) };
}

async function endOf(...hosts: readonly TestHost[]): Promise<void> {
  for (const host of hosts) await host[Symbol.asyncDispose]();
}

/** Lets a millisecond pass: no look and no renewal is due. */
async function step(...hosts: readonly TestHost[]): Promise<void> {
  for (const { clock } of hosts) await clock.advance(1);
}

async function sharesOf(...hosts: readonly TestHost[]): Promise<readonly number[]> {
  await step(...hosts);
  return hosts.map((host) => host.partitions());
}

let messages = 0;

/** Has a host hear a message of each of many conversations. */
async function tell({ channel }: TestHost): Promise<readonly string[]> {
  const texts = Array.from({ length: 16 }, () => `m-${messages++}`);
  for (const [at, text] of texts.entries())
    await channel.receive({ text, conversation: `c-${at}` }, text);
  return texts;
}

/** What both have said, in the order of its numbers. */
async function saidBy(...hosts: readonly TestHost[]): Promise<readonly string[]> {
  await step(...hosts);
  const number = (text: string) => Number(text.split('-')[1]);
  return hosts.flatMap(({ lab }) => lab.texts()).sort((a, b) => number(a) - number(b));
}

describe('hints between hosts that share a journal in PostgreSQL', () => {
  it('have a host handle what another has heard, and take what another has released, without a look and a renewal (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    await using hosts = await twoHosts(url);
    const { first, second } = hosts;
    expect(first.clock.monotonicMs()).toBeLessThan(1_000); // no renewal was due
    for (const { seen } of [first, second]) seen.isBlind = true;
    const texts = await tell(first);
    await expect.poll(() => saidBy(first, second), patiently).toEqual(texts);
    expect(second.lab.texts().length).toBeGreaterThan(0);
  });

  it('that are lost while no connection listens are made up for by a look (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    await using proxy = await PostgresProxy.to(url);
    await using hosts = await twoHosts(url, proxy);
    const { first, second } = hosts;
    second.seen.isBlind = true;
    proxy.close();
    // a look from before may still be asking, and a hint from before may still be on its way through the loop
    await expect.poll(() => second.seen.asking, patiently).toBe(0);
    for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
    second.seen.heard.length = 0;
    const texts = await tell(first);
    const theirs = new Set(second.journal.ownership.partitions());
    const areLeft = async () => {
      await step(first, second);
      const open = await first.journal.updates({ states: openUpdates });
      return open.length > 0 && open.every(({ slot = 0 }) => theirs.has(slot % 8));
    };
    await expect.poll(areLeft, patiently).toBe(true);
    expect(second.lab.texts()).toEqual([]);
    expect(second.seen.heard).toEqual([]);
    second.seen.isBlind = false;
    proxy.open();
    await expect.poll(() => saidBy(first, second), patiently).toEqual(texts);
    expect(second.seen.heard[0]).toBeUndefined();
  });

  it('that were given before a host listens are made up for when it does (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    const { connections, seen } = heeding(url);
    let begin = (): void => undefined;
    const listen: PostgresConnections['listen'] = (...given) => {
      begin = () => connections.listen?.(...given);
    };
    const first = await hostOn({ connections: { ...connections, listen }, seen });
    const second = await hostOn(heeding(url));
    await expect.poll(() => second.seen.heard.length, patiently).toBeGreaterThan(0);
    expect(await sharesOf(first, second)).toEqual([8, 0]);
    begin();
    await expect.poll(() => sharesOf(first, second), patiently).toEqual([4, 4]);
    await endOf(first, second);
  });

  it('that come late find nothing left to do (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    await using proxy = await PostgresProxy.to(url);
    await using hosts = await twoHosts(url, proxy);
    const { first, second } = hosts;
    proxy.silence();
    second.seen.heard.length = 0;
    const texts = await tell(first);
    await second.clock.advance(500); // its own look
    await expect.poll(() => saidBy(first, second), patiently).toEqual(texts);
    expect(second.seen.heard).toEqual([]);
    proxy.open();
    await expect.poll(() => second.seen.heard.length, patiently).toBeGreaterThan(0);
    const more = await tell(first);
    const all = [...texts, ...more];
    await expect.poll(() => saidBy(first, second), patiently).toEqual(all);
  });

  it('that are many, or doubled, lead to two readings: one at once, and one for all others (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    const { connections, seen } = heeding(url);
    const clock = virtualClock();
    const journal = await openPostgresJournal(connections, { leaseMs, clock });
    let readings = 0;
    await expect.poll(() => seen.heard.length, patiently).toBeGreaterThan(0);
    journal.ownership.onWork(() => readings++);
    readings = 0; // it was told at once that there may have been work before
    const other = connect(url);
    for (let at = 0; at < 50; at++)
      await other.query(`SELECT pg_notify('sluice_hints', $1)`, [`${at % 8},99`]);
    const heard = () => seen.heard.filter((told) => told?.includes('99'));
    await expect.poll(heard, patiently).toHaveLength(50);
    expect(readings).toBe(1);
    await clock.advance(100);
    expect(readings).toBe(2);
    await other.close();
    await journal.close();
  });

  it('are given for a partition of another host alone, and not for an update that was not persisted (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    const inner = connect(url);
    let isFailing = false;
    const options = { leaseMs, clock: virtualClock() };
    const owner = await openPostgresJournal(connect(url), options);
    const asleep = { leaseMs, clock: virtualClock(), announces: true }; // it takes no partition
    const other = await openPostgresJournal(
      {
        ...inner,
        transaction: (work) =>
          inner.transaction(async (query) => {
            const made = await work(query);
            if (isFailing) throw Object.assign(new Error('no'), { code: '23514' });
            return made;
          }),
      },
      asleep,
    );
    const hints: string[] = [];
    const listening = connect(url);
    listening.listen?.('sluice_hints', (told = 'there') => hints.push(told));
    await expect.poll(() => hints, patiently).toContain('there');
    hints.length = 0;
    await owner.accept({ ...anUpdate('own'), slot: 1 });
    isFailing = true;
    await expect(other.accept({ ...anUpdate('failed'), slot: 2 })).rejects.toMatchObject({
      code: 'database-constraint',
    });
    isFailing = false;
    await other.accept({ ...anUpdate('kept'), slot: 3 });
    await other.accept({ ...anUpdate('kept'), slot: 3 }); // it is known
    await listening.query(`SELECT pg_notify('sluice_hints', 'last')`);
    await expect.poll(() => hints, patiently).toContain('last');
    expect(hints.filter((hint) => hint !== 'hosts')).toEqual(['3', 'last']);
    for (const one of [listening, owner, other]) await one.close();
  });

  it('are neither given nor heard by a host that is not to listen (durability §11.17)', async () => {
    const url = directUrl(await sharedDatabase());
    const { connections, seen } = heeding(url);
    const journal = await openPostgresJournal(connections, { leaseMs, listen: false });
    const rows = await connections.query(
      `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
    );
    expect(rows).toEqual([]);
    expect(seen.heard).toEqual([]);
    await journal.close();
  });
});

describe.runIf(inject('pooledUrl') !== undefined)('hints behind a pooler', () => {
  it('are not listened to, and hosts look by themselves (durability §11.17)', async () => {
    const url = await sharedDatabase();
    const first = await hostOn(heeding(url));
    const second = await hostOn(heeding(url));
    const pass = () => Promise.all([first, second].map(({ clock }) => clock.advance(500)));
    const shares = () => pass().then(() => [first.partitions(), second.partitions()]);
    await expect.poll(shares, patiently).toEqual([4, 4]);
    const texts = await tell(first);
    await expect.poll(() => pass().then(() => saidBy(first, second)), patiently).toEqual(texts);
    expect([...first.seen.heard, ...second.seen.heard]).toEqual([]);
    await endOf(first, second);
  });
});
