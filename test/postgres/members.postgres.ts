import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { checkedFence, type Fence } from '../../src/journal/fence.js';
import type { PostgresConnections } from '../../src/postgres/index.js';
import { PostgresBatches } from '../../src/postgres/postgres-batches.js';
import { withFailures } from '../../src/postgres/postgres-failure.js';
import { PostgresMember } from '../../src/postgres/postgres-member.js';
import { virtualClock } from '../../src/testing/index.js';
import { newDatabase } from './databases.js';

const leaseMs = 5_000;
const stepMs = 1_000;
const partitions = 4;

/** A database whose clock is set by hand. */
async function timedDatabase() {
  const url = await newDatabase();
  const admin = connect(url);
  for (const sql of [
    'CREATE SCHEMA fake',
    "CREATE TABLE fake.now AS SELECT timestamptz '2026-01-01' AS at",
    `CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS 'SELECT at FROM fake.now'`,
    'CREATE TABLE fake.written (id int8 GENERATED ALWAYS AS IDENTITY, part int4, epoch int8)',
    `ALTER DATABASE ${url.split('/').at(-1)?.split('?')[0]} SET search_path = fake, public, pg_catalog`,
    `UPDATE public.sluice_journal SET partitions = ${partitions}`,
  ])
    await admin.query(sql);
  await admin.close();
  const own = connect(url);
  return {
    url,
    own,
    pass: (ms: number) =>
      own.query(`UPDATE fake.now SET at = at + $1 * interval '1 ms'`, [ms]).then(() => undefined),
  };
}

/** A host of the model. Its process sleeps, is killed, or runs. */
class Host {
  readonly clock = virtualClock();
  readonly connections: PostgresConnections;
  readonly member: PostgresMember;
  readonly batches: PostgresBatches;
  isAsleep = false;
  /** Milliseconds that have passed while it was asleep. */
  sleptMs = 0;

  constructor(url: string) {
    const { clock } = this;
    this.connections = withFailures(connect(url));
    this.member = new PostgresMember(this.connections, clock, leaseMs);
    this.batches = new PostgresBatches(this.connections, {
      ...{ clock, unknownForMs: leaseMs, ownership: this.member },
      fence: (query) => this.member.fence(query),
    });
  }

  async begin(): Promise<this> {
    await this.member.join();
    this.member.renewBy(this.batches);
    return this;
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.batches.settled();
    await new Promise(setImmediate); // the next renewal is set by then
  }

  /** Writes for a partition. @returns whether it was persisted. */
  write(fence: Fence): Promise<boolean> {
    const row = `INSERT INTO fake.written (part, epoch) VALUES ($1, $2)`;
    return this.batches
      .write(({ query }) => query(row, [checkedFence(fence).partition, fence.epoch]))
      .then(() => true)
      .catch(({ code }: { code?: string }) => {
        expect(code).toBe('journal-lost');
        return false;
      });
  }
}

class Model {
  readonly hosts: Host[] = [];
  readonly fences: { readonly host: Host; readonly fence: Fence }[] = [];
  readonly #ownerOf = new Map<string, Host>();
  readonly #unownedForMs = new Map<number, number>();

  constructor(readonly database: Awaited<ReturnType<typeof timedDatabase>>) {}

  get running(): Host[] {
    return this.hosts.filter(({ isAsleep }) => !isAsleep);
  }

  at(nth: number): Host | undefined {
    return this.hosts[nth % Math.max(1, this.hosts.length)];
  }

  async start(): Promise<void> {
    this.hosts.push(await new Host(this.database.url).begin());
    this.check();
  }

  /** Ends a process. @param isInOrder it gives its partitions up before. */
  async end(host: Host, isInOrder: boolean): Promise<void> {
    this.hosts.splice(this.hosts.indexOf(host), 1);
    if (isInOrder) await host.member.leave();
    else this.#unownedForMs.clear();
    await host.connections.close();
  }

  /** Stops a process, or lets it go on: its clock has gone on. */
  async toggle(host: Host): Promise<void> {
    host.isAsleep = !host.isAsleep;
    if (host.isAsleep) this.#unownedForMs.clear(); // the time counts from the last that died, or seems to have
    const { sleptMs } = host;
    host.sleptMs = 0;
    if (sleptMs === 0) return;
    await host.pass(sleptMs);
    this.check();
  }

  async pass(ms: number): Promise<void> {
    await this.database.pass(ms);
    for (const host of this.hosts) if (host.isAsleep) host.sleptMs += ms;
    await Promise.all(this.running.map((host) => host.pass(ms)));
    this.check();
    const owned = new Set(this.running.flatMap(({ member }) => member.partitions()));
    for (let partition = 0; partition < partitions; partition++) {
      const forMs = owned.has(partition) ? 0 : (this.#unownedForMs.get(partition) ?? 0) + ms;
      this.#unownedForMs.set(partition, this.running.length === 0 ? 0 : forMs);
      expect(forMs, `part ${partition} waits for an owner`).toBeLessThanOrEqual(leaseMs + 2_000);
    }
  }

  /**
   * No two hosts that run have a partition at once, and no two have had it in one epoch. Its fence is persisted for later writes:
   * it will be old by then.
   */
  check(): void {
    const owned = this.running.flatMap(({ member }) => member.partitions());
    expect(owned, 'two hosts have a partition').toHaveLength(new Set(owned).size);
    for (const host of this.hosts)
      for (const partition of host.member.partitions()) {
        const fence = host.member.fenceOf(partition);
        if (fence === undefined) continue;
        const name = `${partition} in ${fence.epoch}`;
        const owner = this.#ownerOf.get(name) ?? host;
        if (this.fences.every((one) => one.fence.signal !== fence.signal))
          this.fences.push({ host, fence });
        this.#ownerOf.set(name, owner);
        expect(owner === host, `two hosts have partition ${name}`).toBe(true);
      }
  }

  /**
   * Writes by all holds of the hosts that run. A write lands if and only if the database says that its fence is of today, and the
   * fence has not ended by the clock of its host.
   */
  async write(): Promise<void> {
    const rows = await this.database.own.query(
      `SELECT part || ' in ' || epoch AS name FROM sluice_parts`,
    );
    const ofToday = new Set(rows.map(({ name }) => name));
    const writes = this.fences.map(async ({ host, fence }) => {
      if (!this.running.includes(host)) return;
      const name = `${fence.partition} in ${fence.epoch}`;
      const isOver = fence.signal.aborted;
      const isKept = await host.write(fence);
      expect(isKept, `a write for partition ${name}`).toBe(ofToday.has(name) && !isOver);
      if (!isKept) expect(fence.signal.aborted).toBe(true);
    });
    await Promise.all(writes);
  }

  /** In the order of the commits, the epochs of a partition never fall. */
  async checkWritten(): Promise<void> {
    const rows = await this.database.own.query(
      `SELECT part, epoch, lag(epoch) OVER (PARTITION BY part ORDER BY id) AS before FROM fake.written`,
    );
    for (const { part, epoch, before } of rows)
      expect(Number(epoch), `part ${part}`).toBeGreaterThanOrEqual(Number(before ?? 0));
  }
}

interface Command extends fc.AsyncCommand<object, Model> {}

/** A command of the model, which may always run. */
const command = (name: string, run: (model: Model) => Promise<unknown>): Command => ({
  check: () => true,
  run: async (_, model) => void (await run(model)),
  toString: () => name,
});

const nth = fc.nat(11);
const commands = fc.commands<object, Model, false>(
  [
    fc.constant(
      command('start', async (model) => (model.hosts.length < 3 ? model.start() : undefined)),
    ),
    nth.map((of) =>
      command(`kill ${of}`, async (model) => {
        const host = model.at(of);
        if (host !== undefined) await model.end(host, false);
      }),
    ),
    nth.map((of) =>
      command(`leave ${of}`, async (model) => {
        const host = model.at(of);
        if (host !== undefined && !host.isAsleep) await model.end(host, true);
      }),
    ),
    nth.map((of) =>
      command(`sleep or wake ${of}`, async (model) => {
        const host = model.at(of);
        if (host !== undefined) await model.toggle(host);
      }),
    ),
    fc.tuple(nth, fc.integer({ min: 5, max: 9 })).map(([of, steps]) =>
      command(`sleep ${of} for ${steps}`, async (model) => {
        const host = model.at(of);
        if (host === undefined || host.isAsleep) return;
        await model.toggle(host);
        for (let at = 0; at < steps; at++) await model.pass(stepMs);
        await model.toggle(host);
      }),
    ),
    fc.constant(command('write', (model) => model.write())),
    fc.constant(
      command('renew and write at once', async (model) => {
        const writes = model.fences.map(async ({ host, fence }) => {
          if (model.running.includes(host)) await host.write(fence);
        });
        await Promise.all([model.pass(stepMs), ...writes]);
      }),
    ),
    fc.integer({ min: 1, max: 9 }).map((steps) =>
      command(`pass ${steps}`, async (model) => {
        for (let at = 0; at < steps; at++) await model.pass(stepMs);
      }),
    ),
  ],
  { maxCommands: 30, size: 'max' },
);

describe('the partitions of hosts that start, sleep, die and leave', () => {
  it('have one owner in an epoch, take no write of an old one, and wait for no owner longer than a lease and 2 s (durability §11.11)', {
    timeout: 600_000,
  }, async () => {
    const database = await timedDatabase();
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        await database.own.query('DELETE FROM sluice_hosts');
        await database.own.query('DELETE FROM fake.written');
        const model = new Model(database);
        try {
          await model.start();
          await fc.asyncModelRun(() => ({ model: {}, real: model }), sequence);
          await model.checkWritten();
        } finally {
          for (const host of [...model.hosts]) await model.end(host, true);
        }
      }),
      { numRuns: Number(process.env['MODEL_RUNS'] ?? 30) },
    );
    await database.own.close();
  });

  it('are handled again by a host that was to give them up to one that has gone (durability §11.11)', async () => {
    const database = await timedDatabase();
    const first = await new Host(database.url).begin();
    for (const partition of first.member.partitions())
      first.member.own.begun(first.member.fenceOf(partition), 'busy');
    const second = await new Host(database.url).begin();
    await first.pass(stepMs);
    expect(first.member.partitions()).toHaveLength(partitions - 1);
    await second.member.leave();
    let times = 0;
    using _heard = first.member.onWork(() => times++);
    expect(times).toBe(1); // there may have been work before
    await first.pass(stepMs);
    expect(first.member.partitions()).toHaveLength(partitions);
    expect(times).toBe(2);
    await first.member.leave();
    for (const { connections } of [first, second]) await connections.close();
    await database.own.close();
  });

  it('are taken by a host whose lease ends while it renews it, and that was stalled twice: it removes other hosts, and not itself (durability §11.3)', async () => {
    const own = connect(await newDatabase());
    let stalls = 2;
    const transaction: typeof own.transaction = async (work) => {
      if (stalls-- > 0) throw Object.assign(new Error('it said nothing'), { code: '25P03' });
      return own.transaction(work);
    };
    const connections = withFailures({ ...own, transaction });
    await connections.query(`UPDATE sluice_journal SET partitions = ${partitions}`);
    const member = new PostgresMember(connections, virtualClock(), 0); // it has ended when it is written
    await member.join();
    expect(await connections.query('SELECT part FROM sluice_parts')).toHaveLength(partitions);
    await member.leave();
    await connections.close();
  });

  it('are not kept from others by a host that was stopped in the middle of a renewal (durability §11.3)', {
    timeout: 60_000,
  }, async () => {
    const url = await newDatabase();
    const [one, two] = [connect(url), connect(url)].map(withFailures);
    if (one === undefined || two === undefined) throw new Error('there are two');
    await one.query(`UPDATE sluice_journal SET partitions = ${partitions}`);
    const stopped = new PostgresMember(one, virtualClock(), 500);
    let hasTaken = (): void => undefined;
    const taken = new Promise<void>((resolve) => {
      hasTaken = resolve;
    });
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const renewal = stopped.renew((work) =>
      one.transaction(async (query) => {
        const result = await work(query);
        hasTaken();
        await asleep;
        return result;
      }),
    );
    renewal.catch(() => undefined); // the database ends it
    await taken;
    const other = new PostgresMember(two, virtualClock(), 30_000);
    await other.join();
    expect(other.partitions()).toHaveLength(partitions);
    wake();
    await expect(renewal).rejects.toMatchObject({ code: 'database-io' });
    await other.leave();
    await one.close();
    await two.close();
  });

  it('stay with a host as long as a transaction of it is under way (durability §11.11)', async () => {
    const database = await timedDatabase();
    const first = await new Host(database.url).begin();
    const [fence] = first.member.partitions().map((partition) => first.member.fenceOf(partition));
    if (fence === undefined) throw new Error('it has no partition');
    let goOn = () => {};
    const isUnderWay = new Promise<void>((begun) => {
      void first.batches.write(async ({ query }) => {
        begun();
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        await query('INSERT INTO fake.written (part, epoch) VALUES (1, 1)');
      });
    });
    await isUnderWay;
    await database.pass(leaseMs + 1);
    const second = await new Host(database.url).begin();
    expect(second.member.partitions()).toEqual([]);
    goOn();
    await first.batches.settled();
    expect(await database.own.query('SELECT part FROM fake.written')).toHaveLength(1);
    await second.pass(stepMs);
    expect(second.member.partitions()).toHaveLength(partitions);
    expect(await first.write(fence)).toBe(false);
    expect(fence.signal.reason).toMatchObject({ code: 'journal-lost' });
    for (const { member, connections } of [first, second]) {
      await member.leave();
      await connections.close();
    }
    await database.own.close();
  });
});
