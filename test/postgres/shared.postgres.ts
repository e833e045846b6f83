import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { readPostgresHosts } from '../../src/postgres/postgres-reader.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { anUpdate, aSend } from '../journal/journal-contract.js';
import { partitions, sharedDatabase, sharing } from './sharing.js';

const patiently = { timeout: 60_000, interval: 50 };

const said = (conversation: string, text: string) => ({ text, conversation });

describe('hosts that share a journal in PostgreSQL', () => {
  it('have each a fair share, hand work to each other, and take over what a dead one leaves (durability §11.11, §12.4)', {
    timeout: 120_000,
  }, async () => {
    const url = await sharedDatabase();
    const first = await sharing(url);
    await expect.poll(() => first.partitions().length, patiently).toBe(partitions);
    const second = await sharing(url);
    const hosts = [first, second];
    const all = async (): Promise<void> => {
      for (const host of hosts) await host.pass();
    };
    const shares = async () => {
      await all();
      return hosts.map((host) => host.partitions().length);
    };
    await expect.poll(shares, patiently).toEqual([4, 4]);
    const reader = connect(url);
    expect((await readPostgresHosts(reader)).map(({ parts }) => parts.length)).toEqual([4, 4]);
    let sent = 0;
    const tell = async (): Promise<void> => {
      for (let at = 0; at < 24; at++, sent++) {
        const host = hosts[at % hosts.length] ?? first;
        await host.channel.receive(said(`c${at % 6}`, `${sent}`), `${sent}`);
        await all();
      }
    };
    await tell();
    first.cut();
    hosts.shift();
    await tell();
    const ends = async () => {
      await all();
      const rows = await second.journal.updates({ limit: 1_000 });
      return rows.filter(({ endedAtMs }) => endedAtMs !== undefined).length;
    };
    await expect.poll(ends, patiently).toBe(sent);
    expect(second.partitions()).toHaveLength(partitions);
    // of a send that was cut off, nobody knows whether it is out: it is `failed`, and not sent again
    const sends = await second.journal.sends({ states: ['sent', 'failed'], limit: 1_000 });
    const bodies = sends.map(({ body }) => JSON.parse(body));
    const texts = bodies.map(({ content }) => Number(content));
    expect([...texts].sort((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, at) => at));
    for (let conversation = 0; conversation < 6; conversation++) {
      const own = texts.filter((text) => text % 6 === conversation);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
    await reader.close();
    await second[Symbol.asyncDispose]();
  });

  it('take an update in once that both hear at once (durability §2.2)', async () => {
    const url = await sharedDatabase();
    const journals = await Promise.all([1, 2].map(() => openPostgresJournal(connect(url))));
    const ids = Array.from({ length: 40 }, (_, at) => `u-${at}`);
    const taken = await Promise.all(
      journals.flatMap((journal, at) =>
        (at === 0 ? ids : ids.toReversed()).map((id) => journal.accept(anUpdate(id))),
      ),
    );
    expect(taken.filter(({ status }) => status === 'accepted')).toHaveLength(40);
    for (const journal of journals) await journal.close();
  });

  it('count the messages of a conversation that all of them have taken in (durability §8.2)', async () => {
    const url = await sharedDatabase();
    const owner = await openPostgresJournal(connect(url));
    await expect.poll(() => owner.ownership.partitions().length, patiently).toBe(partitions);
    const other = await openPostgresJournal(connect(url), { announces: true }); // it takes no partition
    const accept = async (id: number) => {
      const update = anUpdate(`u-${id}`, { lane: 'one' });
      return (await (id % 2 ? owner : other).accept(update, false, 3)).status;
    };
    const taken = [];
    for (let id = 0; id < 6; id++) taken.push(await accept(id));
    expect(taken).toEqual([...Array(3).fill('accepted'), ...Array(3).fill('full')]);
    const { fence } = await owner.begin('u-0');
    await owner.endUpdate(fence, { isDead: false, outcome: 'answered' });
    expect([await accept(6), await accept(7)]).toEqual(['accepted', 'full']);
    const dead = await owner.updates({ states: ['dead'] });
    expect(dead.map(({ eventId }) => eventId)).toEqual(['u-3', 'u-4', 'u-5', 'u-7']);
    for (const journal of [owner, other]) await journal.close();
  });

  it('find an update whose transaction ends after a later one (durability §12.4)', async () => {
    const url = await sharedDatabase();
    const owner = await openPostgresJournal(connect(url), { leaseMs: 60_000 });
    let heard = 0;
    owner.ownership.onWork(() => heard++);
    const other = connect(url);
    const insert = `INSERT INTO sluice_updates (event_id, channel, account_id, received_at_ms, state, attempts, accepted_at_ms)
      VALUES ($1, 'c', 'a', 1, 'accepted', 0, 1)`;
    await other.transaction(async (query) => {
      await query(insert, ['early']);
      const beside = connect(url);
      await beside.query(insert, ['late']);
      await beside.close();
      await expect.poll(() => heard, patiently).toBeGreaterThan(0);
      await owner.begin('late');
    });
    heard = 0;
    await expect.poll(() => heard, patiently).toBeGreaterThan(0);
    expect((await owner.updates({ states: ['accepted'], parts: [0] })).length).toBe(1);
    await other.close();
    await owner.close();
  });

  it('give their partitions to the others as soon as they are to stop, those with active work at its end (durability §11.11)', {
    timeout: 120_000,
  }, async () => {
    const url = await sharedDatabase();
    const one = await openPostgresJournal(connect(url), { leaseMs: 30_000 });
    const two = await openPostgresJournal(connect(url), { leaseMs: 30_000 });
    const shares = () => [one, two].map(({ ownership }) => ownership.partitions().length);
    await expect.poll(shares, patiently).toEqual([4, 4]);
    const [busy = 0, held = 0] = one.ownership.partitions();
    const accepted = await one.accept({ ...anUpdate('a'), slot: busy }, true);
    const fence = accepted.status === 'accepted' ? accepted.fence : undefined;
    const account = one.ownership.fenceOf(held);
    if (fence === undefined || account === undefined) throw new Error('it has no fence');
    let left = 0;
    one.ownership.onLeave(account, async () => void left++);
    one.ownership.withdraw();
    await expect.poll(shares, patiently).toEqual([2, 6]);
    await one.endUpdate(fence, { isDead: false, outcome: 'answered' });
    await expect.poll(shares, patiently).toEqual([1, 7]);
    expect(left).toBe(0); // its host stops the account itself
    await one.close();
    await expect.poll(() => two.ownership.partitions().length, patiently).toBe(8);
    await two.close();
  });

  it('release a partition when its account is stopped, and not before (durability §11.11)', {
    timeout: 120_000,
  }, async () => {
    const url = await sharedDatabase();
    const one = await openPostgresJournal(connect(url), { leaseMs: 30_000 });
    const letGo: (() => void)[] = [];
    for (const partition of one.ownership.partitions()) {
      const fence = one.ownership.fenceOf(partition);
      const leave = () => new Promise<void>((resolve) => letGo.push(resolve));
      if (fence !== undefined) one.ownership.onLeave(fence, leave);
    }
    const two = await openPostgresJournal(connect(url), { leaseMs: 30_000 });
    const own = () => two.ownership.partitions().length;
    await expect.poll(() => letGo.length, patiently).toBe(1); // a quarter of the surplus
    expect(own()).toBe(0);
    letGo[0]?.();
    await expect.poll(own, patiently).toBe(1);
    await expect.poll(() => letGo.length, patiently).toBe(2);
    for (let at = 1; at < 4; at++) {
      await expect.poll(() => letGo.length, patiently).toBeGreaterThan(at);
      letGo[at]?.();
    }
    await expect.poll(own, patiently).toBe(4);
    expect(letGo).toHaveLength(4);
    await one.close();
    await two.close();
  });

  it('are lost to a host that slept while their number was changed (durability §11.11)', async () => {
    const url = await sharedDatabase();
    const sleeper = await sharing(url);
    sleeper.sleep(true);
    const admin = connect(url);
    const migrated = () =>
      migratePostgres(admin, 4).then(
        () => true,
        () => false,
      ); // its lease has to end before
    await expect.poll(migrated, patiently).toBe(true);
    sleeper.sleep(false);
    const accepted = sleeper.journal.accept({ ...anUpdate('a'), slot: 7 });
    await expect(accepted).rejects.toMatchObject({ code: 'journal-lost' });
    await expect.poll(() => sleeper.journal.lost?.aborted, patiently).toBe(true);
    expect(String(sleeper.journal.lost?.reason)).toContain('had 8 partitions, and now has 4');
    await expect.poll(() => sleeper.lab.host.state, patiently).toBe('stopped');
    expect(await admin.query('SELECT * FROM sluice_updates')).toEqual([]);
    await admin.close();
  });

  it('are refused if their config has other partitions, and those are changed when no host lives: what is open keeps its slot (durability §11.11)', async () => {
    const url = await sharedDatabase();
    const wrong = openPostgresJournal(connect(url), { partitions: 1 });
    await expect(wrong).rejects.toMatchObject({
      code: 'not-a-journal',
      message: expect.stringContaining('has 8 partitions, and the config says 1'),
    });
    const journal = await openPostgresJournal(connect(url), { partitions });
    const admin = connect(url);
    await expect(migratePostgres(admin, 4)).rejects.toMatchObject({ code: 'journal-in-use' });
    const { ownership } = journal;
    const slot = ownership.slotOf('the conversation');
    await journal.accept({ ...anUpdate('a'), slot });
    const { fence } = await journal.begin('a');
    await journal.prepare(fence, aSend('s', { correlationId: 'a' }));
    await journal.close();
    await migratePostgres(admin, 4);
    const later = await openPostgresJournal(connect(url), { partitions: 4 });
    expect(await later.updates({ parts: [slot % 4] })).toMatchObject([{ eventId: 'a', slot }]);
    expect(await later.updates({ parts: [(slot + 1) % 4] })).toEqual([]);
    expect(await later.sends()).toMatchObject([{ sendId: 's', slot }]);
    expect((await later.begin('a')).fence).toMatchObject({ partition: slot % 4, slot });
    await later.close();
    await admin.close();
  });
});
