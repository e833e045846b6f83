import type { UpdateFence } from '@sluice/journal';
import type { CrashSuspectRules } from './crash-suspects.js';
import { CrashSuspects } from './crash-suspects.js';

/** A conversation of which something is active; the rest of it waits in the journal. */
export interface ActiveLane {
  /** How many of its updates are active. */
  active: number;
  /** More of it may wait in the journal. */
  hasMore: boolean;
  /** More has come since the journal was read for it. */
  hasGrown: boolean;
  /** Updates that a journal of an older version has persisted without a lane. They are older than the others. */
  readonly unnamed: string[];
}

/** Makes a backlog of which nothing is known yet. */
export function newBacklog(rules: CrashSuspectRules) {
  return {
    /** The conversations of which something is active. */
    lanes: new Map<string, ActiveLane>(),
    /** Updates whose write to the journal has not finished. */
    arriving: new Set<string>(),
    /** How many updates of a conversation are being written down, and have no place in it yet. */
    arrivingIn: new Map<string, number>(),
    /** Updates that were begun here, and have not ended, with their fences. */
    begun: new Map<string, UpdateFence>(),
    /** How often the journal has suspended the updates that were begun here and have not ended. */
    suspended: new Map<string, number>(),
    /** Updates that wait for an account of theirs, which does not run. */
    waiting: new Set<string>(),
    /** Sends of no update that wait for an account of theirs, which does not run. */
    waitingSends: new Set<string>(),
    /** The fences of the partitions whose left sends this host has claimed, by their signals: nobody else brings those to an end. */
    claimed: new WeakSet<AbortSignal>(),
    /** The fences of the partitions whose questions to humans were read, by their signals. No update there is claimed before that. */
    asked: new WeakSet<AbortSignal>(),
    /** Conversations that are blocked: an update could not start, so later ones wait until the journal is read again. */
    blocked: new Set<string>(),
    /** Those of them that the last reading from the first row was to free. */
    freed: Array.of<string>(),
    /** Conversations that are full in a shared journal, of which a sender was told: until half of the room is free again. */
    notifiedFull: new Set<string>(),
    crashSuspects: new CrashSuspects(rules),
    /** The numbers of updates that this host cannot claim, since a row of theirs is damaged: each was told. */
    damaged: new Set<number>(),
    /** The journal has been read for open updates as far as this row. */
    afterSeq: 0,
    /** Rows behind that one may not be active yet. New updates wait behind them. */
    isBehind: false,
    /** More has come since the journal was read. */
    hasGrown: false,
    isReading: false,
    /** How often it was begun anew from the first row. */
    rewinds: 0,
    /** The journal could not be read: it is begun anew. */
    isToRewind: false,
    /** The host claims no more updates, and leaves them to the next host. */
    isClosed: false,
    waitingForIdle: Array.of<() => void>(),
  };
}

/** The knowledge of a host about the updates that wait in its journal. An update that is not active takes no memory. */
export type Backlog = ReturnType<typeof newBacklog>;

/** Notes that an update of a conversation is being written down. @returns a function that takes the note back. */
export function arriveIn({ arrivingIn }: Backlog, lane: string): () => void {
  arrivingIn.set(lane, (arrivingIn.get(lane) ?? 0) + 1);
  return () => {
    const others = (arrivingIn.get(lane) ?? 0) - 1;
    if (others > 0) arrivingIn.set(lane, others);
    else arrivingIn.delete(lane);
  };
}

/** Returns whether an update is active, or waits to be claimed. */
export function isBusy({ lanes, isBehind, isReading, isClosed }: Backlog): boolean {
  return !isClosed && (isBehind || isReading || lanes.size > 0);
}

/** Notifies the waiting callers once nothing is left to do. */
export function notifyIdle(backlog: Backlog): void {
  if (!isBusy(backlog)) for (const resolve of backlog.waitingForIdle.splice(0)) resolve();
}

/** Resolves when no update is active, and none waits to be claimed. */
export async function backlogIdle(backlog: Backlog): Promise<void> {
  if (isBusy(backlog))
    await new Promise<void>((resolve) => {
      backlog.waitingForIdle.push(resolve);
    });
}

/** Claims nothing more: what has not begun is left to the next host. */
export function closeBacklog(backlog: Backlog): void {
  backlog.isClosed = true;
  backlog.crashSuspects[Symbol.dispose]();
  notifyIdle(backlog);
}
