import { randomUUID } from 'node:crypto';
import type { Clock, SluiceError, TimerHandle } from '../../../kernel/index.js';
import { hostError } from '../../errors.js';
import { digestOf } from '../event-id.js';
import type { Hold, Ownership } from '../hold.js';
import type { PostgresConnections, PostgresQuery } from './connections.js';
import { planParts } from './part-plan.js';
import type { PostgresBatches } from './postgres-batches.js';
import { stalledAfter } from './postgres-fence.js';

/** The renewals of one lease: it outlives some that are late or lost. A long lease is renewed each second, too. */
const renewalsPerLease = 5;
const longestRenewalMs = 1_000;

/** Milliseconds between two looks for updates that other hosts have taken in. */
const lookMs = 500;

/** Milliseconds between two tries to take a journal of one part that another host has. */
const takeAgainMs = 50;

interface OwnPart {
  readonly hold: Hold;
  readonly losing: AbortController;
  /** The ids of the updates and sends in hand. */
  readonly work: Set<string>;
}

/**
 * A host among those that share a journal. It has one lease, whose end is a time of the database; the host itself counts by its
 * monotonic clock from before a renewal was sent. When the lease has ended, any other host removes the row of this one, and its
 * parts are free. Each transaction keeps its own host's row until it ends, and reads the epochs of the parts that it writes for:
 * a host that has slept writes nothing for a part that another has taken.
 */
export class PostgresMember implements Ownership {
  readonly #connections: PostgresConnections;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #hostId = randomUUID();
  readonly #held = new Map<number, OwnPart>();
  readonly #listeners = new Set<() => void>();
  readonly #losing = new AbortController();
  #draining: ReadonlySet<number> = new Set();
  #partitions = 1;
  #touched = 0;
  #renewedAtMs = 0;
  #lost: SluiceError | undefined;
  #timer: TimerHandle | undefined;
  #looking: TimerHandle | undefined;
  /** All transactions before it had ended at the last look. */
  #seenXid = '0';
  #isClosed = false;
  #isTaking: boolean;
  #about: () => object = () => ({});

  /** @param isTaking it takes parts of a journal that hosts share; otherwise not before it is announced. */
  constructor(connections: PostgresConnections, clock: Clock, leaseMs: number, isTaking = true) {
    this.#connections = connections;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#isTaking = isTaking;
  }

  /** Aborts when another host has taken a journal of one part over. */
  get lost(): AbortSignal {
    return this.#losing.signal;
  }

  /** The changes that commands beside the hosts have made: a number that grows. */
  get touched(): number {
    return this.#touched;
  }

  get isShared(): boolean {
    return this.#partitions > 1;
  }

  partOf(key: string): number {
    if (!this.isShared) return 0;
    return Number.parseInt(digestOf(key).slice(0, 8), 16) % this.#partitions;
  }

  holdOf(part: number): Hold | undefined {
    return this.#draining.has(part) ? undefined : this.#held.get(part)?.hold;
  }

  readonly parts = (): readonly number[] =>
    [...this.#held.keys()].filter((part) => !this.#draining.has(part));

  onWork(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  begun(hold: Hold | undefined, id: string): void {
    if (hold !== undefined) this.#workOf(hold)?.add(id);
  }

  ended(hold: Hold, id: string): void {
    this.#workOf(hold)?.delete(id);
  }

  #workOf({ part, epoch }: Hold): Set<string> | undefined {
    const own = this.#held.get(part);
    return own?.hold.epoch === epoch ? own.work : undefined;
  }

  /**
   * Joins the hosts of the journal. If it has one part, it waits for one lease for a host that has it: that host may have died.
   *
   * @param wanted the partitions that it is to have.
   * @throws SluiceError (as a rejection) `journal-in-use` if that one lives; `not-a-journal` if it has other partitions.
   */
  async join(wanted?: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + this.#leaseMs + 2 * takeAgainMs;
    for (;;) {
      await this.renew((work) => this.#connections.transaction(work));
      if (wanted !== undefined && wanted !== this.#partitions) {
        await this.leave();
        const problem = `it has ${this.#partitions} partitions, and the config says ${wanted}; \`sluice journal migrate\` changes it when no host runs`;
        throw hostError('not-a-journal', { path: this.#connections.address, problem });
      }
      if (this.#partitions > 1 || this.#held.size > 0) return;
      if (this.#clock.monotonicMs() >= untilMs) {
        await this.leave();
        throw hostError('journal-in-use', { path: this.#connections.address });
      }
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, takeAgainMs));
    }
  }

  /** Tells the other hosts of this one, now and with each renewal, and takes parts from now on. */
  async announce(about: () => object, batches: PostgresBatches): Promise<void> {
    this.#about = about;
    this.#isTaking = true;
    await this.renew((work) => batches.renew(work)).catch(() => undefined); // `problem` tells of it, and the next one does the same
  }

  /** Renews the lease until it is closed. The renewals show, too, when a database that was away is back. */
  renewBy(batches: PostgresBatches): void {
    if (this.#isClosed || this.#lost !== undefined) return;
    const everyMs = Math.min(this.#leaseMs / renewalsPerLease, longestRenewalMs);
    this.#timer = this.#clock.setTimeout(() => {
      void this.renew((work) => batches.renew(work))
        .catch(() => undefined) // `problem` tells of it
        .finally(() => this.renewBy(batches));
    }, everyMs);
    this.#timer.unref?.();
  }

  /** Looks for updates that other hosts have taken in. An update whose transaction ended late is seen by a later look. */
  lookForWork(): void {
    if (this.#isClosed || !this.isShared) return;
    const look = async (): Promise<void> => {
      const [seen] = await this.#connections.query(
        `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, EXISTS (SELECT 1 FROM sluice_updates
          WHERE state = 'accepted' AND xid >= $1::xid8 AND coalesce(part, 0) = ANY($2)) AS is_there`,
        [this.#seenXid, this.parts()],
      );
      this.#seenXid = String(seen?.['xmin']);
      if (seen?.['is_there'] === true) this.#wake();
    };
    this.#looking = this.#clock.setTimeout(() => {
      void look()
        .catch(() => undefined)
        .then(() => this.lookForWork());
    }, lookMs);
    this.#looking.unref?.();
  }

  /** Renews the lease, removes hosts whose lease has ended, and goes a step towards the fair share of parts. */
  async renew(
    transaction: <T>(work: (query: PostgresQuery) => Promise<T>) => Promise<T>,
  ): Promise<void> {
    const fromMs = this.#clock.monotonicMs();
    const before = new Set(this.parts().map((part) => this.#held.get(part)));
    const owned = await transaction((query) => this.#step(query));
    this.#renewedAtMs = fromMs;
    this.#keep(owned);
    for (const [part, epoch] of owned) {
      if (this.#held.has(part)) continue;
      const losing = new AbortController();
      const hold = { part, epoch, signal: losing.signal };
      this.#held.set(part, { hold, losing, work: new Set() });
    }
    // a part was taken, or is given up no more
    if (this.parts().some((part) => !before.has(this.#held.get(part)))) this.#wake();
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** @returns the epochs of the parts that this host has now. */
  async #step(query: PostgresQuery): Promise<ReadonlyMap<number, number>> {
    await query(
      `INSERT INTO sluice_hosts (host_id, lease_until, is_taking, about)
        VALUES ($1, clock_timestamp() + $2 * interval '1 ms', $3, $4) ON CONFLICT (host_id) DO UPDATE
        SET lease_until = excluded.lease_until, is_taking = excluded.is_taking, about = excluded.about`,
      [this.#hostId, this.#leaseMs, this.#isTaking, JSON.stringify(this.#about())],
    );
    await query(
      `DELETE FROM sluice_hosts WHERE host_id IN (SELECT host_id FROM sluice_hosts
        WHERE lease_until < clock_timestamp() FOR UPDATE SKIP LOCKED)`,
    );
    const rows = await query(
      `SELECT partitions, touched, part, epoch, host_id = $1 AS is_mine,
          (SELECT count(*) FROM sluice_hosts WHERE is_taking) AS hosts
        FROM sluice_journal LEFT JOIN sluice_parts ON true`,
      [this.#hostId],
    );
    const { partitions, touched, hosts } = rows[0] ?? {};
    this.#partitions = Number(partitions);
    this.#touched = Number(touched);
    const taken = new Set(rows.map(({ part }) => part));
    const mine = rows.filter((row) => row['is_mine'] === true);
    const owned = new Map(mine.map(({ part, epoch }) => [Number(part), Number(epoch)]));
    const { take, drain } = planParts({
      ...{ partitions: this.#partitions, hosts: Number(hosts) },
      isTaking: this.#isTaking || !this.isShared,
      owned: new Map([...owned.keys()].map((part) => [part, this.#held.get(part)?.work.size ?? 0])),
      draining: this.#draining,
      free: Array.from({ length: this.#partitions }, (_, part) => part).filter(
        (part) => !taken.has(part),
      ),
    });
    this.#draining = new Set(drain); // from here on it begins nothing in them, whatever becomes of this transaction
    const idle = drain.filter((part) => (this.#held.get(part)?.work.size ?? 0) === 0);
    if (idle.length > 0)
      await query('DELETE FROM sluice_parts WHERE host_id = $1 AND part = ANY($2)', [
        ...[this.#hostId, idle],
      ]);
    for (const part of idle) owned.delete(part);
    const got =
      take.length === 0
        ? []
        : await query(
            `INSERT INTO sluice_parts (part, host_id, epoch)
              SELECT part, $1, nextval('sluice_epochs') FROM unnest($2::int4[]) AS part
              ON CONFLICT DO NOTHING RETURNING part, epoch`,
            [this.#hostId, take],
          );
    for (const { part, epoch } of got) owned.set(Number(part), Number(epoch));
    return owned;
  }

  /** Keeps others from removing this host until the transaction ends, and ends the holds of parts that it has no more. */
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

  /** Ends the holds of parts that this host has no more, or in another epoch. */
  #keep(epochs: ReadonlyMap<number, number>): void {
    for (const [part, { hold }] of this.#held)
      if (epochs.get(part) !== hold.epoch) this.#lose(part);
  }

  #removed(): SluiceError {
    const problem = 'its lease ended, and another host has taken it over';
    return hostError('journal-lost', { path: this.#connections.address, problem });
  }

  #lose(part: number): void {
    const error = this.#removed();
    this.#held.get(part)?.losing.abort(error);
    this.#held.delete(part);
    if (this.#partitions > 1) return;
    this.#lost ??= error;
    this.#losing.abort(error);
  }

  /** The reason why the host may not go on. */
  problem(): SluiceError | undefined {
    const lateMs = this.#clock.monotonicMs() - this.#renewedAtMs;
    if (this.#lost !== undefined || lateMs < this.#leaseMs) return this.#lost;
    const problem = `its lease of ${this.#leaseMs} ms could not be renewed in time`;
    return hostError('database-io', { path: this.#connections.address, problem });
  }

  /** Gives all up, so that the next host need not wait. */
  async leave(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#timer, this.#looking])
      if (timer !== undefined) this.#clock.clearTimeout(timer);
    await this.#connections
      .query('DELETE FROM sluice_hosts WHERE host_id = $1', [this.#hostId])
      .catch(() => undefined); // its lease ends by itself
  }
}
