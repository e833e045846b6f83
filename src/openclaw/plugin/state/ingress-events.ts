import { randomUUID } from 'node:crypto';
import process from 'node:process';
import type { KeyValues } from '@sluice/sdk/extension';
import { hasFields, WorkItems } from '@sluice/sdk/extension/internal';
import { type Clock, definedFields } from 'sluice-kernel/internal';
import { textOf } from '../channel/settings.js';
import { inTurn } from './in-turn.js';
import { type Claim, type Event, type How, idOf, type Kept, type Named } from './ingress-event.js';

/** The bounds of the queue of one account, ended events included: its plugin prunes those. */
const quota = { maxKeys: 50_000, maxBytes: 64 * 1_048_576 };
/** An event that is in can end, or be given back, also if the queue is full. */
const quotaOfChanges = { maxKeys: 60_000, maxBytes: 80 * 1_048_576 };

const isKept = hasFields<Kept>({
  ...({ status: 'string', receivedAt: 'number' } as const),
  ...({ updatedAt: 'number', attempts: 'number' } as const),
});

/** An event that has not ended, with its id. */
export type Open = readonly [id: string, kept: Kept];

/** The order of events: those of one moment stay as they came. */
function byOrder(orderBy = 'received'): (one: Open, other: Open) => number {
  if (orderBy === 'id') return ([one], [other]) => (one < other ? -1 : 1);
  return ([, one], [, other]) => one.receivedAt - other.receivedAt;
}

/** The parts of the queue of an account. */
export interface IngressParts {
  readonly channelId: string;
  readonly accountId: string;
  readonly clock: Clock;
  /** The place where events are kept: a resolved write is kept as long as the journal of the host. */
  readonly values: Pick<KeyValues, 'get' | 'list' | 'write'>;
  /** Has aborted if another host has the account: no event is taken in then. */
  readonly lost: () => AbortSignal | undefined;
}

/**
 * The events of an account: a row for each, by its id. Claims are of this process alone, and end with it. Calls come one after the
 * other.
 */
export class IngressEvents {
  readonly clock: Clock;
  readonly run = inTurn();
  readonly #items: WorkItems<Kept>;
  readonly #namespace: string;
  readonly #named;
  readonly #lost: IngressParts['lost'];
  /** Those that have not ended; in their order as long as `#isSorted`. */
  #open = new Map<string, Kept>();
  readonly claims = new Map<string, Claim>();
  #isStale = true;
  #isSorted = false;
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor({ channelId, accountId, clock, values, lost }: IngressParts) {
    this.clock = clock;
    this.#named = { channelId, accountId, queueName: JSON.stringify([channelId, accountId]) };
    this.#namespace = `/legacy-ingress/${encodeURIComponent(channelId)}/${encodeURIComponent(accountId)}`;
    this.#items = new WorkItems(values, { isItem: isKept });
    this.#lost = lost;
  }

  /** A time that a plugin gives, which may be a date or nonsense in JavaScript; now, if it gives none. */
  timeOf(given: unknown): number {
    const timeMs = Number(given ?? this.clock.now());
    return Number.isFinite(timeMs) ? timeMs : this.clock.now();
  }

  /** Has the events read again: another host may have changed them meanwhile. Claims stay on those that have not changed. */
  forget(): void {
    this.#isStale = true;
  }

  /** Returns whether an event has waited for longer than some milliseconds while nobody works on any. */
  isStuck(forMs: number): boolean {
    const beforeMs = this.clock.now() - forMs;
    const [first] = this.claims.size > 0 ? [] : this.#open.values(); // the oldest, but for those that came out of order
    return first !== undefined && first.updatedAt < beforeMs;
  }

  /** All events, ended ones included. */
  async all(): Promise<readonly Open[]> {
    const rows = await this.#items.list(this.#namespace);
    return rows.map(({ key, item }) => [String(JSON.parse(key)), item]); // as `#write` names it
  }

  find(id: string): Promise<Kept | undefined> {
    return this.#items.find(this.#namespace, JSON.stringify(id));
  }

  /** The events that have not ended. */
  async open(): Promise<ReadonlyMap<string, Kept>> {
    if (!this.#isStale) return this.#open;
    const before = this.#open;
    this.#open = new Map((await this.all()).filter(([, { status }]) => status === 'pending'));
    for (const id of this.claims.keys())
      if (JSON.stringify(before.get(id)) !== JSON.stringify(this.#open.get(id)))
        this.claims.delete(id);
    this.#isStale = false;
    this.#isSorted = false;
    return this.#open;
  }

  /** The open events in order, or those with some ids. They are sorted anew only when one has come out of its order. */
  async inOrder({ orderBy, candidateIds }: How): Promise<Iterable<Open>> {
    const open = await this.open();
    if (candidateIds !== undefined) {
      const some = [...new Set(candidateIds)].map((id) => [id, open.get(id)] as const);
      return some.filter((one): one is Open => one[1] !== undefined).sort(byOrder(orderBy));
    }
    if (orderBy === 'id') return [...open].sort(byOrder(orderBy));
    if (!this.#isSorted) this.#open = new Map([...open].sort(byOrder()));
    this.#isSorted = true;
    return this.#open;
  }

  /** Claims an open event. @returns it, as its plugin sees it. */
  claim([id, kept]: Open, ownerId: unknown): Event {
    const owner = textOf(ownerId) ?? `${process.pid}`;
    this.claims.set(id, { token: randomUUID(), ownerId: owner, claimedAt: this.clock.now() });
    return this.eventOf(id, kept);
  }

  /** The event that a call is about: a claim counts as long as it holds, an id alone if nobody has claimed it. */
  async heldBy(name: Named): Promise<readonly [id: string, kept: Kept | undefined]> {
    const id = idOf(name);
    const kept = (await this.open()).get(id);
    const token = typeof name === 'string' ? undefined : name.claim?.token;
    return [id, this.claims.get(id)?.token === token ? kept : undefined];
  }

  /** Notes an open event that is kept. */
  found(id: string, kept: Kept): void {
    if (!this.#open.has(id)) {
      this.#isSorted &&= kept.receivedAt >= this.#latestMs;
      this.#latestMs = Math.max(this.#latestMs, kept.receivedAt);
    }
    this.#open.set(id, kept);
  }

  /**
   * Changes an event, takes one in, or deletes one.
   *
   * @param known as it is known: a new one is not.
   * @returns whether it was so: if not, another host has changed it.
   */
  async put(id: string, known: Kept | undefined, kept?: Kept): Promise<boolean> {
    const isNew = known === undefined && kept?.status === 'pending';
    const bounds = isNew
      ? { quota, ...definedFields({ signal: this.#lost() }) }
      : { quota: quotaOfChanges };
    const at = { namespace: this.#namespace, key: JSON.stringify(id), ...bounds };
    const status = await this.#items.write(at, kept, known ?? null);
    if (status === 'full')
      throw new Error(
        `the ingress queue of ${this.#named.queueName} is full: event ${id} is not kept`,
      );
    this.#isStale ||= status === 'conflict'; // what is known of the others may be old, too
    if (status !== 'written') return false;
    if (kept?.status === 'pending') this.found(id, kept);
    else {
      this.claims.delete(id);
      this.#open.delete(id);
    }
    return true;
  }

  /** An open event as its plugin sees it. */
  eventOf(id: string, kept: Kept): Event {
    const { status: _, reason: __, ...event } = kept;
    const claim = this.claims.get(id);
    return { ...this.#named, id, ...structuredClone(event), ...definedFields({ claim }) };
  }

  /** The same of one that has ended. */
  endedOf(id: string, kept: Kept): Event {
    const { status, updatedAt: at, reason, lastError: message, ...event } = kept;
    const named = { ...this.#named, id };
    if (status === 'completed')
      return { ...named, completedAt: at, ...definedFields({ metadata: kept.metadata }) };
    return {
      ...named,
      ...event,
      updatedAt: at,
      failedAt: at,
      ...definedFields({ reason, message }),
    };
  }
}
