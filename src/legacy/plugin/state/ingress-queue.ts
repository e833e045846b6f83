import { randomUUID } from 'node:crypto';
import process from 'node:process';
import type { KeyValueQuota, KeyValues } from '../../../extension/index.js';
import { type Clock, definedFields } from '../../../kernel/index.js';
import { textOf } from '../channel/settings.js';
import { inTurn } from './in-turn.js';
import {
  type Event,
  type How,
  idOf,
  type Kept,
  laneOf,
  type Named,
  type Open,
  plain,
  tried,
} from './ingress-event.js';

/** The bounds of the queue of one account, ended events included: its plugin prunes those. */
const quota: KeyValueQuota = { maxKeys: 50_000, maxBytes: 64 * 1_048_576 };
/** An event that is in can end, or be given back, also if the queue is full. */
const quotaOfChanges: KeyValueQuota = { maxKeys: 60_000, maxBytes: 80 * 1_048_576 };
/** Events that are read at once. */
const pageLength = 1_000;
/** Events that a claim looks at, if it does not say. */
const usualScan = 100;

/** `state.openChannelIngressQueue`: the events of an account that its plugin has taken over, each until it is a message. */
export type IngressQueue = ReturnType<typeof ingressQueue>['queue'];

/** Opens the queue of an account (spec §17.35). */
export function ingressQueue(given: {
  readonly channelId: string;
  readonly accountId: string;
  readonly clock: Clock;
  /** The place where events are kept: a resolved write is kept as long as the journal of the host. */
  readonly values: () => KeyValues;
}) {
  const { channelId, accountId, clock, values } = given;
  const named = { channelId, accountId, queueName: JSON.stringify([channelId, accountId]) };
  const namespace = `/legacy-ingress/${encodeURIComponent(channelId)}/${encodeURIComponent(accountId)}`;
  const run = inTurn();
  let loaded: Map<string, Open> = new Map();
  let isStale = true;

  const write = async (
    id: string,
    kept: Kept | undefined,
    bounds = quotaOfChanges,
  ): Promise<void> => {
    const value = kept && { body: JSON.stringify(kept) };
    const given = { quota: bounds };
    const result = await values().write(namespace, JSON.stringify(id), value, given);
    if (result.status === 'written') return;
    throw new Error(`the ingress queue of ${named.queueName} is full: event ${id} is not kept`);
  };
  const all = async (): Promise<readonly (readonly [id: string, kept: Kept])[]> => {
    const found: (readonly [string, Kept])[] = [];
    for (let after = ''; ; ) {
      const page = await values().list(namespace, { prefix: '', after, limit: pageLength });
      for (const { key, body } of page)
        found.push([JSON.parse(key) as string, JSON.parse(body) as Kept]); // as it was written here
      const last = page.at(-1);
      if (last === undefined || page.length < pageLength) return found;
      after = last.key;
    }
  };
  const keptOf = async (id: string): Promise<Kept | undefined> => {
    const found = await values().get(namespace, JSON.stringify(id));
    return found && (JSON.parse(found.body) as Kept); // as it was written here
  };
  const opened = async (): Promise<Map<string, Open>> => {
    if (!isStale) return loaded;
    const pending = (await all()).filter(([, { status }]) => status === 'pending');
    loaded = new Map(pending.map(([id, kept]) => [id, { kept, claim: loaded.get(id)?.claim }]));
    isStale = false;
    return loaded;
  };
  const keep = async (id: string, open: Open, kept: Kept): Promise<void> => {
    await write(id, kept);
    open.kept = kept;
  };
  const eventOf = (id: string, { kept, claim }: Open): Event => {
    const { status: _, reason: __, ...event } = kept;
    return { ...named, id, ...structuredClone(event), ...definedFields({ claim }) };
  };
  const endedOf = (id: string, kept: Kept): Event => {
    const { status, updatedAt: at, reason, lastError: message, ...event } = kept;
    if (status === 'completed')
      return { ...named, id, completedAt: at, ...definedFields({ metadata: kept.metadata }) };
    return {
      ...named,
      id,
      ...event,
      updatedAt: at,
      failedAt: at,
      ...definedFields({ reason, message }),
    };
  };
  /** The open events in order. */
  const inOrder = (open: Map<string, Open>, orderBy = 'received'): (readonly [string, Open])[] => {
    const byId = ([a]: readonly [string, Open], [b]: readonly [string, Open]): number =>
      a < b ? -1 : 1;
    const byTime = (one: readonly [string, Open], other: readonly [string, Open]): number =>
      one[1].kept.receivedAt - other[1].kept.receivedAt || byId(one, other);
    return [...open].sort(orderBy === 'id' ? byId : byTime);
  };
  /** The event that a call is about: a claim counts as long as it holds, an id alone if nobody has claimed it. */
  const heldBy = async (name: Named): Promise<readonly [string, Open | undefined]> => {
    const id = idOf(name);
    const open = (await opened()).get(id);
    const token = typeof name === 'string' ? undefined : name.claim?.token;
    return [id, open?.claim?.token === token ? open : undefined];
  };
  const claimed = (id: string, open: Open, ownerId: unknown): Event => {
    const claimedAt = clock.now();
    open.claim = { token: randomUUID(), ownerId: textOf(ownerId) ?? `${process.pid}`, claimedAt };
    return eventOf(id, open);
  };
  const recover = async (options: How = {}): Promise<number> => {
    const latest = (options.now ?? clock.now()) - Math.max(0, options.staleMs ?? 0);
    let recovered = 0;
    for (const [id, open] of await opened()) {
      if (open.claim === undefined || open.claim.claimedAt > latest) continue;
      if ((await options.shouldRecover?.(eventOf(id, open))) === false) continue;
      await keep(id, open, tried(open.kept, options.now ?? clock.now()));
      open.claim = undefined;
      recovered += 1;
    }
    return recovered;
  };

  /** Changes an event that a call may change. @returns whether it was there. */
  const change = (name: Named, make: (id: string, open: Open) => Promise<unknown>) =>
    run(async () => {
      const [id, open] = await heldBy(name);
      if (open === undefined) return false;
      await make(id, open);
      return true;
    });
  const close = async (id: string, kept: Kept | undefined): Promise<void> => {
    await write(id, kept);
    (await opened()).delete(id);
  };
  const listed = (isClaimed: boolean, { limit = usualScan, orderBy }: How = {}) =>
    run(async () =>
      inOrder(await opened(), orderBy)
        .filter(([, { claim }]) => (claim !== undefined) === isClaimed)
        .slice(0, limit === 'all' ? undefined : limit)
        .map(([id, open]) => eventOf(id, open)),
    );

  const queue = {
    enqueue: (name: string, payload: unknown, how: How = {}) =>
      run(async () => {
        const id = idOf(name);
        const events = await opened();
        const kept = events.has(id) ? undefined : await keptOf(id);
        if (kept?.status === 'pending')
          events.set(id, { kept }); // by a write whose answer was lost
        else if (kept !== undefined)
          return { kind: kept.status, duplicate: true, record: endedOf(id, kept) };
        const open = events.get(id);
        const kind = open?.claim === undefined ? 'pending' : 'claimed';
        if (open !== undefined) return { kind, duplicate: true, record: eventOf(id, open) };
        const { laneKey, receivedAt = clock.now() } = how;
        const more = definedFields({ metadata: plain(how.metadata), laneKey });
        const times = { receivedAt, updatedAt: clock.now(), attempts: 0 };
        const added = {
          kept: { status: 'pending', payload: plain(payload), ...times, ...more } as const,
        };
        await write(id, added.kept, quota);
        events.set(id, added);
        return { kind: 'accepted', duplicate: false, record: eventOf(id, added) };
      }),
    listPending: (how?: How) => listed(false, how),
    listClaims: () => listed(true, { limit: 'all' }),
    listFailed: ({ limit = usualScan }: How = {}) =>
      run(async () =>
        (await all())
          .filter(([, { status }]) => status === 'failed')
          .sort(([, one], [, other]) => one.updatedAt - other.updatedAt)
          .slice(0, limit === 'all' ? undefined : limit)
          .map(([id, kept]) => endedOf(id, kept)),
      ),
    claimNext: (how: How = {}) =>
      run(async () => {
        if (how.staleMs !== undefined) await recover({ staleMs: how.staleMs });
        const blocked = new Set(how.blockedLaneKeys ?? []);
        const candidates = how.candidateIds && new Set(how.candidateIds);
        const waiting = inOrder(await opened(), how.orderBy).filter(
          ([id, { claim }]) => claim === undefined && candidates?.has(id) !== false,
        );
        for (const [id, open] of waiting.slice(0, how.scanLimit ?? usualScan)) {
          const laneKey = laneOf(eventOf(id, open), how);
          if (laneKey !== undefined && blocked.has(laneKey)) continue;
          if (laneKey !== undefined && laneKey !== open.kept.laneKey)
            await keep(id, open, { ...open.kept, laneKey });
          return claimed(id, open, how.ownerId);
        }
        return null;
      }),
    claim: (name: string, how: How = {}) =>
      run(async () => {
        const [id, open] = await heldBy(name);
        return open === undefined ? null : claimed(id, open, how.ownerId);
      }),
    refreshClaim: (name: Named, { refreshedAt = clock.now() }: How = {}) =>
      change(name, async (_, open) => {
        if (open.claim !== undefined) open.claim = { ...open.claim, claimedAt: refreshedAt };
      }),
    complete: (name: Named, { completedAt: at = clock.now(), metadata }: How = {}) =>
      run(async () => {
        const [id, open] = await heldBy(name);
        const isNew = typeof name === 'string' && (await keptOf(id)) === undefined;
        if (open === undefined && !isNew) return false;
        const { receivedAt = at, attempts = 0 } = open?.kept ?? {};
        const more = definedFields({ metadata: plain(metadata) });
        await close(id, { status: 'completed', receivedAt, attempts, updatedAt: at, ...more });
        return true;
      }),
    release: (name: Named, how: How = {}) =>
      change(name, async (id, open) => {
        const { lastError, recordAttempt, releasedAt: updatedAt = clock.now() } = how;
        const kept = recordAttempt === false ? open.kept : tried(open.kept, updatedAt);
        await keep(id, open, { ...kept, updatedAt, ...definedFields({ lastError }) });
        open.claim = undefined;
      }),
    fail: (name: Named, { reason = 'failed', message, failedAt = clock.now() }: How) =>
      change(name, async (id, { kept: { lastError: _, ...kept } }) => {
        const more = definedFields({ lastError: message });
        await close(id, { ...kept, status: 'failed', reason, updatedAt: failedAt, ...more });
      }),
    delete: (name: Named) => change(name, (id) => close(id, undefined)),
    recoverStaleClaims: (how: How = {}) => run(() => recover(how)),
    prune: (how: How = {}) =>
      run(async () => {
        const spared = new Set(how.protectIds ?? []);
        const open = await opened();
        const rows = Object.keys(how).length === 0 ? [] : await all();
        let deleted = 0;
        for (const status of ['pending', 'completed', 'failed'] as const) {
          const { [`${status}TtlMs` as const]: ttlMs = Number.POSITIVE_INFINITY } = how;
          const { [`${status}MaxEntries` as const]: most = Number.POSITIVE_INFINITY } = how;
          const newestFirst = rows
            .filter(([id, kept]) => kept.status === status && open.get(id)?.claim === undefined)
            .sort(([, one], [, other]) => other.updatedAt - one.updatedAt);
          for (const [at, [id, kept]] of newestFirst.entries()) {
            const isOld = kept.updatedAt < (how.now ?? clock.now()) - ttlMs;
            if (spared.has(id) || !(isOld || at >= most)) continue;
            await close(id, undefined);
            deleted += 1;
          }
        }
        return deleted;
      }),
  };
  return {
    queue,
    /** Has what is kept read again: another host may have changed it meanwhile. Claims of this process stay. */
    reread: () =>
      void run(async () => {
        isStale = true;
      }),
  };
}
