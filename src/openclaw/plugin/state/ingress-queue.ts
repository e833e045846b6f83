import { randomUUID } from 'node:crypto';
import process from 'node:process';
import type { KeyValues } from '@sluice/sdk/extension';
import { type Clock, definedFields } from 'sluice-kernel/internal';
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
import { ingressRows } from './ingress-rows.js';

/** Events that a claim looks at, if it does not say. */
const usualScan = 100;

type Entry = readonly [id: string, open: Open];

const byId = ([one]: Entry, [other]: Entry): number => (one < other ? -1 : 1);

/** The order of events: those of one moment stay as they came. */
function byOrder(orderBy = 'received'): (one: Entry, other: Entry) => number {
  if (orderBy === 'id') return byId;
  return ([, one], [, other]) => one.kept.receivedAt - other.kept.receivedAt;
}

/** `state.openChannelIngressQueue`: the events of an account that its plugin has taken over, each until it is a message. */
export type IngressQueue = ReturnType<typeof ingressQueue>['queue'];

/** Opens the queue of an account (spec §17.35). */
export function ingressQueue(given: {
  readonly channelId: string;
  readonly accountId: string;
  readonly clock: Clock;
  /** The place where events are kept: a resolved write is kept as long as the journal of the host. */
  readonly values: () => KeyValues;
  /** Has aborted if another host has the account: no event is taken in then. */
  readonly lost: () => AbortSignal | undefined;
}) {
  const { channelId, accountId, clock, values, lost } = given;
  const named = { channelId, accountId, queueName: JSON.stringify([channelId, accountId]) };
  const namespace = `/legacy-ingress/${encodeURIComponent(channelId)}/${encodeURIComponent(accountId)}`;
  const run = inTurn();
  /** The open events; in their order as long as `isSorted`. */
  let loaded: Map<string, Open> = new Map();
  /** The ids of those that are claimed. */
  const claims = new Set<string>();
  let isStale = true;
  let isSorted = false;
  let latestMs = Number.NEGATIVE_INFINITY;
  const { all, read, write } = ingressRows({
    ...{ namespace, values, lost, queueName: named.queueName },
    onConflict: () => {
      isStale = true;
    },
  });

  const opened = async (): Promise<Map<string, Open>> => {
    if (!isStale) return loaded;
    const pending = (await all()).filter(([, { status }]) => status === 'pending');
    // a claim on an event that somebody has changed counts no more
    const claimOf = (id: string, kept: Kept) => {
      const { kept: known, claim } = loaded.get(id) ?? {};
      return claim && JSON.stringify(known) === JSON.stringify(kept) ? claim : undefined;
    };
    loaded = new Map(pending.map(([id, kept]) => [id, { kept, claim: claimOf(id, kept) }]));
    for (const id of claims) if (loaded.get(id)?.claim === undefined) claims.delete(id);
    isStale = false;
    isSorted = false;
    return loaded;
  };
  /** Changes an event, or takes one that has ended out. @returns whether it was as it is known. */
  const put = async (id: string, known: Kept | undefined, kept?: Kept): Promise<boolean> => {
    const isKept = await write(id, known, kept);
    const open = isKept ? (await opened()).get(id) : undefined;
    if (open !== undefined && kept?.status === 'pending') open.kept = kept;
    else if (isKept) {
      claims.delete(id);
      loaded.delete(id);
    }
    return isKept;
  };
  const eventOf = (id: string, { kept, claim }: Open): Event => {
    const { status: _, reason: __, ...event } = kept;
    return { ...named, id, ...structuredClone(event), ...definedFields({ claim }) };
  };
  const endedOf = (id: string, kept: Kept): Event => {
    const { status, updatedAt: at, reason, lastError: message, ...event } = kept;
    if (status === 'completed')
      return { ...named, id, completedAt: at, ...definedFields({ metadata: kept.metadata }) };
    const more = definedFields({ reason, message });
    return { ...named, id, ...event, updatedAt: at, failedAt: at, ...more };
  };
  const add = (id: string, open: Open): void => {
    const { receivedAt } = open.kept;
    isSorted &&= receivedAt >= latestMs;
    latestMs = Math.max(latestMs, receivedAt);
    loaded.set(id, open);
  };
  /** The open events in order, or those with some ids. They are sorted anew only when one has come out of its order. */
  const inOrder = async ({ orderBy, candidateIds }: How): Promise<Iterable<Entry>> => {
    const open = await opened();
    if (candidateIds !== undefined) {
      const named = [...new Set(candidateIds)].map((id) => [id, open.get(id)] as const);
      return named.filter((one): one is Entry => one[1] !== undefined).sort(byOrder(orderBy));
    }
    if (orderBy === 'id') return [...open].sort(byOrder(orderBy));
    if (!isSorted) loaded = new Map([...open].sort(byOrder()));
    isSorted = true;
    return loaded;
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
    claims.add(id);
    return eventOf(id, open);
  };
  const releaseClaim = (id: string, open: Open): void => {
    open.claim = undefined;
    claims.delete(id);
  };
  const recover = async (options: How = {}): Promise<number> => {
    const latest = (options.now ?? clock.now()) - Math.max(0, options.staleMs ?? 0);
    let recovered = 0;
    const events = await opened();
    for (const id of claims) {
      const open = events.get(id);
      if (open?.claim === undefined || open.claim.claimedAt > latest) continue;
      if ((await options.shouldRecover?.(eventOf(id, open))) === false) continue;
      if (!(await put(id, open.kept, tried(open.kept, options.now ?? clock.now())))) continue;
      releaseClaim(id, open);
      recovered += 1;
    }
    return recovered;
  };

  /** Changes an event that a call may change. @returns whether it was there, and as it is known. */
  const change = (name: Named, make: (id: string, open: Open) => Promise<boolean>) =>
    run(async () => {
      const [id, open] = await heldBy(name);
      return open !== undefined && make(id, open);
    });
  const listed = (isClaimed: boolean, { limit = usualScan, orderBy }: How = {}) =>
    run(async () =>
      [...(await inOrder(definedFields({ orderBy })))]
        .filter(([, { claim }]) => (claim !== undefined) === isClaimed)
        .slice(0, limit === 'all' ? undefined : limit)
        .map(([id, open]) => eventOf(id, open)),
    );

  const queue = {
    enqueue: (name: string, payload: unknown, how: How = {}) => {
      const id = idOf(name);
      const take = async (): Promise<object> => {
        const events = await opened();
        const found = events.has(id) ? undefined : await read(id);
        const kept = found && (JSON.parse(found.body) as Kept); // as it was written here
        if (kept?.status === 'pending')
          add(id, { kept }); // by a write whose answer was lost
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
        if (!(await write(id, undefined, added.kept, true))) return take(); // another host has it
        add(id, added);
        return { kind: 'accepted', duplicate: false, record: eventOf(id, added) };
      };
      return run(take);
    },
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
        let left = how.scanLimit ?? usualScan;
        for (const [id, open] of await inOrder(how)) {
          if (open.claim !== undefined) continue;
          if (left-- <= 0) return null;
          const laneKey = laneOf(eventOf(id, open), how);
          if (laneKey !== undefined && blocked.has(laneKey)) continue;
          const isNew = laneKey !== undefined && laneKey !== open.kept.laneKey;
          if (isNew && !(await put(id, open.kept, { ...open.kept, laneKey }))) continue;
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
        return true;
      }),
    complete: (name: Named, { completedAt: at = clock.now(), metadata }: How = {}) =>
      run(async () => {
        const [id, open] = await heldBy(name);
        const isNew = typeof name === 'string' && (await read(id)) === undefined;
        if (open === undefined && !isNew) return false;
        const { receivedAt = at, attempts = 0 } = open?.kept ?? {};
        const more = definedFields({ metadata: plain(metadata) });
        const times = { receivedAt, attempts, updatedAt: at };
        return put(id, open?.kept, { status: 'completed', ...times, ...more });
      }),
    release: (name: Named, how: How = {}) =>
      change(name, async (id, open) => {
        const { lastError, recordAttempt, releasedAt: updatedAt = clock.now() } = how;
        const kept = recordAttempt === false ? open.kept : tried(open.kept, updatedAt);
        const more = definedFields({ lastError });
        const isKept = await put(id, open.kept, { ...kept, updatedAt, ...more });
        if (isKept) releaseClaim(id, open);
        return isKept;
      }),
    fail: (name: Named, { reason = 'failed', message, failedAt = clock.now() }: How) =>
      change(name, async (id, { kept: known }) => {
        const { lastError: _, ...kept } = known;
        const more = definedFields({ lastError: message });
        return put(id, known, {
          ...kept,
          status: 'failed',
          reason,
          updatedAt: failedAt,
          ...more,
        });
      }),
    delete: (name: Named) => change(name, (id, { kept }) => put(id, kept)),
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
            if (await put(id, kept)) deleted += 1;
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
