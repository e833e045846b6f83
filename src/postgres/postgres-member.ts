import { randomUUID } from 'node:crypto';
import type { Fence, Ownership } from '@sluice/journal';
import { journalError, slotOf } from '@sluice/journal/internal';
import type { Clock, SluiceError, TimerHandle } from 'sluice-kernel';
import { Hints, hintOfHosts } from './members/hints.js';
import { OwnLease } from './members/own-lease.js';
import { OwnPartitions } from './members/own-partitions.js';
import { planPartitions } from './members/partition-plan.js';
import type { PostgresBatches } from './postgres-batches.js';
import { overStalls } from './postgres-failure.js';
import { releaseAttempts, stalledAfter } from './postgres-fence.js';
import { postgresSchemaVersion } from './postgres-schema.js';
import type { PostgresConnections, PostgresQuery } from './rows/connections.js';

/** The renewals of one lease: it outlives some that are late or lost. A long lease is renewed each second, too. */
const renewalsPerLease = 5;
const longestRenewalMs = 1_000;

/** Milliseconds between two tries to take a journal of one partition that another host has. */
const takeAgainMs = 50;

/**
 * A host among those that share a journal. It has one lease, whose end is a time of the database; the host itself counts by its
 * monotonic clock from before a renewal was sent. When the lease has ended, any other host removes the row of this one, and its
 * partitions are free. Each transaction keeps its own host's row until it ends, and reads the epochs of the partitions that it writes for:
 * a host that has slept writes nothing for a partition that another has taken.
 */
export class PostgresMember implements Ownership {
  readonly #connections: PostgresConnections;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #hostId = randomUUID();
  readonly #lease: OwnLease;
  readonly #late: string;
  readonly #hints: Hints;
  readonly #listeners = new Set<() => void>();
  readonly #losing = new AbortController();
  /** The partitions that it has, with the work that it handles for each. */
  readonly own = new OwnPartitions(() => this.#hints.renewSoon());
  partitionCount = 0; // before it has joined
  /** The changes that commands beside the hosts have made: a number that grows. */
  touched = 0;
  #lost: SluiceError | undefined;
  #timer: TimerHandle | undefined;
  #isClosed = false;
  #isTaking: boolean;
  #isWithdrawn = false;
  #renewNow: () => Promise<void> = async () => undefined;
  #about: () => object = () => ({});

  /** @param isTaking it takes partitions of a journal that hosts share; otherwise not before it is announced. */
  constructor(connections: PostgresConnections, clock: Clock, leaseMs: number, isTaking = true) {
    this.#connections = connections;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#isTaking = isTaking;
    this.#late = `its lease of ${leaseMs} ms could not be renewed in time`;
    this.#lease = new OwnLease(clock, leaseMs, () => this.own.suspend(this.#removed(this.#late)));
    this.#hints = new Hints(connections, clock, {
      partitions: this.partitions,
      wake: () => this.#wake(),
      renew: () => this.#renewNow(),
    });
  }

  /** Aborts when another host has taken a journal of one partition over. */
  get lost(): AbortSignal {
    return this.#losing.signal;
  }

  get #isShared(): boolean {
    return this.partitionCount > 1;
  }

  readonly slotOf = slotOf;
  readonly partitions = (): readonly number[] => this.own.partitions();
  readonly epochOf = (partition: number): number | undefined => this.own.epochOf(partition);
  readonly fenceOf = (slot: number): Fence | undefined => {
    const fence = this.own.fenceOf(slot % this.partitionCount);
    return fence && { ...fence, slot };
  };

  onWork(listener: () => void): Disposable {
    this.#listeners.add(listener);
    if (this.#isShared) listener();
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  onLeave(fence: Fence, leave: () => Promise<void>): Disposable {
    return this.own.onLeave(fence, leave);
  }

  withdraw(): void {
    if (!this.#isShared) return;
    this.#isTaking = false;
    this.#isWithdrawn = true;
    void this.#renewNow();
  }

  /**
   * Joins the hosts of the journal. If it has one partition, it waits for one lease for a host that has it: that host may have died.
   *
   * @param wanted the partitions that it is to have.
   * @param signal ends the wait, as if the time were over.
   * @throws SluiceError (as a rejection) `journal-in-use` if that one lives; `not-a-journal` if it has other partitions.
   */
  async join(wanted?: number, signal?: AbortSignal): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + this.#leaseMs + 2 * takeAgainMs;
    for (;;) {
      const isLast = signal?.aborted === true || this.#clock.monotonicMs() >= untilMs; // a try may take longer than a lease
      await overStalls(() => this.renew((work) => this.#connections.transaction(work)), signal);
      const isOther = wanted !== undefined && wanted !== this.partitionCount;
      if (!isOther && (this.#isShared || this.partitions().length > 0)) return;
      if (isOther || isLast) {
        await this.leave();
        const path = this.#connections.address;
        if (!isOther) throw journalError('journal-in-use', { path });
        const problem = `it has ${this.partitionCount} partitions, and the config says ${wanted}; \`sluice journal migrate\` changes it when no host runs`;
        throw journalError('not-a-journal', { path, problem });
      }
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, takeAgainMs));
    }
  }

  /** Tells the other hosts of this one, now and with each renewal, and takes partitions from now on. */
  async announce(about: () => object): Promise<void> {
    this.#about = about;
    this.#isTaking = true;
    await this.#renewNow();
    this.#hints.give('hosts');
  }

  /** Renews the lease until it is closed. The renewals show, too, when a database that was away is back. */
  renewBy(batches: PostgresBatches): void {
    if (this.#isClosed || this.#lost !== undefined) return;
    const everyMs = Math.min(this.#leaseMs / renewalsPerLease, longestRenewalMs);
    this.#renewNow = () => this.renew((work) => batches.renew(work)).catch(() => undefined); // `problem` tells of it
    this.#timer = this.#clock.setTimeout(
      () => void this.#renewNow().finally(() => this.renewBy(batches)),
      everyMs,
    );
    this.#timer.unref?.();
  }

  /** Looks for updates that other hosts have taken in. @param isHinted they tell each other of them, besides. */
  lookForWork(isHinted: boolean): void {
    if (this.#isShared) this.#hints.begin(isHinted);
  }

  hint(slot?: number): void {
    if (slot === undefined) this.#hints.give('all');
    else if (!this.fenceOf(slot)) this.#hints.give(slot % this.partitionCount);
  }

  /** Renews the lease, removes hosts whose lease has ended, and goes a step towards the fair share of partitions. */
  async renew(
    transaction: <T>(work: (query: PostgresQuery) => Promise<T>) => Promise<T>,
  ): Promise<void> {
    const fromMs = this.#clock.monotonicMs();
    const before = new Set(this.partitions().map((partition) => this.own.fenceOf(partition)));
    const { suspensions } = this.own;
    const owned = await transaction((query) => this.#step(query));
    this.#lease.renewed(fromMs);
    if (this.#keep(owned)) this.#hints.give('hosts');
    const isOver = this.#lease.isOver && this.#timer !== undefined; // one that joins may be slow
    if (isOver || suspensions !== this.own.suspensions) return this.#hints.renewSoon();
    for (const [partition, epoch] of owned) this.own.take(partition, epoch);
    // a partition was taken, or is given up no more
    if (this.partitions().some((partition) => !before.has(this.own.fenceOf(partition))))
      this.#wake();
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** @returns the epochs of the partitions that this host has now. */
  async #step(query: PostgresQuery): Promise<ReadonlyMap<number, number>> {
    await this.#beHeard(query);
    const { owned, ...others } = await this.#look(query);
    const { take, drain } = planPartitions({
      ...{ ...others, partitions: this.partitionCount, draining: this.own.draining },
      ...{ isTaking: this.#isTaking || !this.#isShared, isWithdrawn: this.#isWithdrawn },
      owned: new Map([...owned.keys()].map((one) => [one, this.own.workOf(one)])),
    });
    this.own.drain(drain); // from here on it begins nothing in them, whatever becomes of this transaction
    const idle = drain.filter((partition) => this.own.workOf(partition) === 0);
    for (const partition of idle) owned.delete(partition);
    const release = 'DELETE FROM sluice_parts WHERE host_id = $1 AND part = ANY($2)';
    if (idle.length > 0) await query(release, [this.#hostId, idle]);
    if (take.length > 0) {
      const got = await query(
        `INSERT INTO sluice_parts (part, host_id, epoch)
          SELECT part, $1, nextval('sluice_epochs') FROM unnest($2::int4[]) AS part
          ON CONFLICT DO NOTHING RETURNING part, epoch`,
        [this.#hostId, take],
      );
      for (const { part, epoch } of got) owned.set(Number(part), Number(epoch));
    }
    await releaseAttempts(query, this.own.stalledIn(owned));
    return owned;
  }

  /** Renews the lease, and removes the other hosts whose lease has ended. */
  async #beHeard(query: PostgresQuery): Promise<void> {
    await query(
      `INSERT INTO sluice_hosts (host_id, lease_until, is_taking, about, version)
        VALUES ($1, clock_timestamp() + $2::float8 * interval '1 ms', $3, $4, ${postgresSchemaVersion})
        ON CONFLICT (host_id) DO UPDATE SET lease_until = excluded.lease_until, is_taking = excluded.is_taking,
          about = excluded.about RETURNING ${stalledAfter('$2::float8::text')}`,
      [this.#hostId, this.#leaseMs, this.#isTaking, JSON.stringify(this.#about())],
    );
    await query(
      `DELETE FROM sluice_hosts WHERE host_id IN (SELECT host_id FROM sluice_hosts
        WHERE lease_until < clock_timestamp() AND host_id <> $1 FOR UPDATE SKIP LOCKED)`,
      [this.#hostId],
    );
  }

  /** Reads the hosts that take partitions, the partitions that are free, and the epochs of those that this host has. */
  async #look(query: PostgresQuery) {
    const rows = await query(
      `SELECT partitions, touched, part, epoch, host_id = $1 AS is_mine,
          (SELECT count(*) FROM sluice_hosts WHERE is_taking) AS hosts
        FROM sluice_journal LEFT JOIN sluice_parts ON true`,
      [this.#hostId],
    );
    const { partitions, touched, hosts } = rows[0] ?? {};
    if (this.partitionCount > 0 && this.partitionCount !== partitions)
      throw this.#loseAll(`it had ${this.partitionCount} partitions, and now has ${partitions}`);
    this.partitionCount = Number(partitions);
    this.touched = Number(touched);
    const taken = new Set(rows.map(({ part }) => part));
    const all = [...Array(this.partitionCount).keys()];
    const mine = rows.filter(({ is_mine }) => is_mine === true);
    const owned = new Map(mine.map(({ part, epoch }) => [Number(part), Number(epoch)]));
    return { owned, hosts: Number(hosts), free: all.filter((partition) => !taken.has(partition)) };
  }

  /** Keeps others from removing this host until the transaction ends, and ends the fences of partitions that it has no more. */
  async fence(query: PostgresQuery): Promise<string> {
    const [row] = await query(
      `SELECT pg_current_xact_id()::text AS id, ${stalledAfter('$2')}, (SELECT string_agg(
          part || ' ' || epoch, ',') FROM sluice_parts WHERE host_id = $1) AS owned
        FROM sluice_hosts WHERE host_id = $1 FOR KEY SHARE`,
      [this.#hostId, String(this.#leaseMs)],
    );
    const owned = String(row?.['owned'] ?? '').split(',');
    const epochs = new Map(owned.map((one) => one.split(' ').map(Number) as [number, number])); // as the statement joins them
    this.#keep(epochs);
    if (this.#lost !== undefined) throw this.#lost;
    if (row === undefined) throw this.#removed();
    return String(row['id']);
  }

  /** Ends the fences of partitions that this host has no more, or in another epoch. @returns whether there are any. */
  #keep(epochs: ReadonlyMap<number, number>): boolean {
    const hasLost = this.own.keep(epochs, () => this.#removed());
    if (hasLost && !this.#isShared) this.#loseAll();
    return hasLost;
  }

  #removed(problem = 'its lease ended, and another host has taken it over'): SluiceError {
    return journalError('journal-lost', { path: this.#connections.address, problem });
  }

  /** Has the host stop. @returns the error of it. */
  #loseAll(problem?: string): SluiceError {
    const error = this.#removed(problem);
    this.#lost ??= error;
    this.own.keep(new Map(), () => error);
    this.#losing.abort(error);
    return error;
  }

  /** The reason why the host may not go on. */
  problem(): SluiceError | undefined {
    if (this.#lost !== undefined || !this.#lease.isOver) return this.#lost;
    return journalError('database-io', { path: this.#connections.address, problem: this.#late });
  }

  /** Gives all up, so that the next host need not wait. */
  async leave(): Promise<void> {
    this.#isClosed = true;
    this.#lease[Symbol.dispose]();
    this.#hints[Symbol.dispose]();
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    await this.#connections
      .query(`DELETE FROM sluice_hosts WHERE host_id = $1 RETURNING ${hintOfHosts}`, [this.#hostId])
      .catch(() => undefined); // its lease ends by itself
  }
}
