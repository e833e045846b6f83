import { definedFields } from 'sluice-kernel/internal';
import {
  type Event,
  type How,
  idOf,
  type Kept,
  laneOf,
  type Named,
  plain,
  tried,
} from './ingress-event.js';
import { IngressEvents, type IngressParts, type Open } from './ingress-events.js';

/** Events that a call looks at, if it does not say. */
const usualScan = 100;

/** Milliseconds that an event waits, while nobody works on any, until its account is in trouble. */
const stuckAfterMs = 60_000;

/** `state.openChannelIngressQueue`: the events of an account that its plugin has taken over, each until it is a message. */
export type IngressQueue = ReturnType<typeof ingressQueue>['queue'];

/** Opens the queue of an account (spec §17.35). */
export function ingressQueue(parts: IngressParts) {
  const events = new IngressEvents(parts);
  return {
    queue: { ...intake(events), ...listings(events), ...claims(events), ...ends(events) },
    /** Has what is kept read again: another host may have changed it meanwhile. Claims of this process stay. */
    reread: () => void events.run(async () => events.forget()),
    isStuck: () => events.isStuck(stuckAfterMs),
  };
}

/** The calls that take events in, and let them go. */
function intake(events: IngressEvents) {
  const { run, clock } = events;
  const take = async (id: string, payload: unknown, how: How): Promise<object> => {
    const found = (await events.open()).has(id) ? undefined : await events.find(id);
    if (found?.status === 'pending')
      events.found(id, found); // by a write whose answer was lost
    else if (found !== undefined)
      return { kind: found.status, duplicate: true, record: events.endedOf(id, found) };
    const open = (await events.open()).get(id);
    const kind = events.claims.has(id) ? 'claimed' : 'pending';
    if (open !== undefined) return { kind, duplicate: true, record: events.eventOf(id, open) };
    const { laneKey } = how;
    const receivedAt = events.timeOf(how.receivedAt);
    const more = definedFields({ metadata: plain(how.metadata), laneKey });
    const times = { receivedAt, updatedAt: clock.now(), attempts: 0 };
    const kept = { status: 'pending', payload: plain(payload), ...times, ...more } as const;
    if (!(await events.put(id, undefined, kept))) {
      if ((await events.find(id)) !== undefined) return take(id, payload, how); // another host has it
      throw new Error(`the queue has an event "${id}" that cannot be read`);
    }
    return { kind: 'accepted', duplicate: false, record: events.eventOf(id, kept) };
  };
  return {
    enqueue: (name: string, payload: unknown, how: How = {}) => {
      const id = idOf(name);
      return run(() => take(id, payload, how));
    },
    prune: (how: How = {}) =>
      run(async () => {
        const spared = new Set(how.protectIds ?? []);
        await events.open();
        const rows = Object.keys(how).length === 0 ? [] : await events.all();
        let deleted = 0;
        for (const status of ['pending', 'completed', 'failed'] as const) {
          const { [`${status}TtlMs` as const]: ttlMs = Number.POSITIVE_INFINITY } = how;
          const { [`${status}MaxEntries` as const]: most = Number.POSITIVE_INFINITY } = how;
          const newestFirst = rows
            .filter(([id, kept]) => kept.status === status && !events.claims.has(id))
            .sort(([, one], [, other]) => other.updatedAt - one.updatedAt);
          for (const [at, [id, kept]] of newestFirst.entries()) {
            const isOld = kept.updatedAt < (how.now ?? clock.now()) - ttlMs;
            if (spared.has(id) || !(isOld || at >= most)) continue;
            if (await events.put(id, kept)) deleted += 1;
          }
        }
        return deleted;
      }),
  };
}

/** The calls that show events. */
function listings(events: IngressEvents) {
  const part = (all: Iterable<Open>, limit: How['limit'] = usualScan) =>
    [...all].slice(0, limit === 'all' ? undefined : limit);
  const listed = (isClaimed: boolean, { limit, orderBy }: How = {}): Promise<Event[]> =>
    events.run(async () => {
      const all = [...(await events.inOrder(definedFields({ orderBy })))];
      const some = all.filter(([id]) => events.claims.has(id) === isClaimed);
      return part(some, limit).map(([id, kept]) => events.eventOf(id, kept));
    });
  return {
    listPending: (how?: How) => listed(false, how),
    listClaims: () => listed(true, { limit: 'all' }),
    listFailed: ({ limit }: How = {}) =>
      events.run(async () => {
        const failed = (await events.all()).filter(([, { status }]) => status === 'failed');
        const inOrder = failed.sort(([, one], [, other]) => one.updatedAt - other.updatedAt);
        return part(inOrder, limit).map(([id, kept]) => events.endedOf(id, kept));
      }),
  };
}

/** The calls by which a plugin works on events, one at a time. */
function claims(events: IngressEvents) {
  const { run, clock } = events;
  const recover = async ({ now = clock.now(), staleMs = 0, shouldRecover }: How = {}) => {
    const open = await events.open();
    let recovered = 0;
    for (const [id, { claimedAt }] of [...events.claims]) {
      const kept = open.get(id);
      if (kept === undefined || claimedAt > now - Math.max(0, staleMs)) continue;
      if ((await shouldRecover?.(events.eventOf(id, kept))) === false) continue;
      if (!(await events.put(id, kept, tried(kept, now)))) continue;
      events.claims.delete(id);
      recovered += 1;
    }
    return recovered;
  };
  return {
    claimNext: (how: How = {}) =>
      run(async () => {
        if (how.staleMs !== undefined) await recover({ staleMs: how.staleMs });
        const blocked = new Set(how.blockedLaneKeys ?? []);
        let left = how.scanLimit ?? usualScan;
        for (const [id, kept] of await events.inOrder(how)) {
          if (events.claims.has(id)) continue;
          if (left-- <= 0) return null;
          const laneKey = laneOf(events.eventOf(id, kept), how);
          if (laneKey !== undefined && blocked.has(laneKey)) continue;
          const isNew = laneKey !== undefined && laneKey !== kept.laneKey;
          const inLane = isNew ? { ...kept, laneKey } : kept;
          if (isNew && !(await events.put(id, kept, inLane))) continue;
          return events.claim([id, inLane], how.ownerId);
        }
        return null;
      }),
    claim: (name: string, how: How = {}) =>
      run(async () => {
        const [id, kept] = await events.heldBy(name);
        return kept === undefined ? null : events.claim([id, kept], how.ownerId);
      }),
    refreshClaim: (name: Named, { refreshedAt = clock.now() }: How = {}) =>
      run(async () => {
        const [id, kept] = await events.heldBy(name);
        const claim = events.claims.get(id);
        if (kept !== undefined && claim !== undefined)
          events.claims.set(id, { ...claim, claimedAt: refreshedAt });
        return kept !== undefined;
      }),
    recoverStaleClaims: (how: How = {}) => run(() => recover(how)),
  };
}

/** The calls that end the work on an event, for now or for good. */
function ends(events: IngressEvents) {
  const { run, clock } = events;
  /** Changes an event that a call may change. @returns whether it was there, and as it is known. */
  const change = (name: Named, next: (kept: Kept) => Kept | undefined): Promise<boolean> =>
    run(async () => {
      const [id, kept] = await events.heldBy(name);
      const isChanged = kept !== undefined && (await events.put(id, kept, next(kept)));
      if (isChanged) events.claims.delete(id);
      return isChanged;
    });
  return {
    complete: (name: Named, { completedAt: at = clock.now(), metadata }: How = {}) =>
      run(async () => {
        const [id, open] = await events.heldBy(name);
        const isNew = typeof name === 'string' && (await events.find(id)) === undefined;
        if (open === undefined && !isNew) return false;
        const { receivedAt = at, attempts = 0 } = open ?? {};
        const more = definedFields({ metadata: plain(metadata) });
        const times = { receivedAt, attempts, updatedAt: at };
        return events.put(id, open, { status: 'completed', ...times, ...more });
      }),
    release: (name: Named, how: How = {}) => {
      const { lastError, recordAttempt } = how;
      const updatedAt = events.timeOf(how.releasedAt);
      return change(name, (known) => {
        const kept = recordAttempt === false ? known : tried(known, updatedAt);
        return { ...kept, updatedAt, ...definedFields({ lastError }) };
      });
    },
    fail: (name: Named, { reason = 'failed', message, failedAt }: How) =>
      change(name, ({ lastError: _, ...kept }) => {
        const updatedAt = events.timeOf(failedAt);
        const more = definedFields({ lastError: message });
        return { ...kept, status: 'failed', reason, updatedAt, ...more };
      }),
    delete: (name: Named) => change(name, () => undefined),
  };
}
