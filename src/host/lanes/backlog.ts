import type { UpdateFence } from '@sluice/journal';
import type { CrashSuspectRules } from './crash-suspects.js';
import { CrashSuspects } from './crash-suspects.js';
import { ParkedTurns } from './parked-turns.js';

/** A conversation of which an update is held here, or is being written down. The rest of it waits in the journal. */
export interface ActiveLane {
  /** Updates that are being written down. */
  arriving: number;
  /** One of it runs, or is next to run. */
  isHeld: boolean;
  /** More of it may wait in the journal: the journal is asked when nothing of it is held. */
  hasMore: boolean;
  /** One of the rows of it has no lane, as a journal of an older version keeps them: the journal is read from its first row. */
  hasUnnamed: boolean;
}

/** A place in the journal: open updates up to this row are active, or of lanes that ask for them. */
export interface Cursor {
  afterSeq: number;
  /** More has come since the last reading began. */
  hasGrown: boolean;
  /** Rows that the next reading takes: it grows as long as they are passed over. */
  limit: number;
}

/** The fewest rows that are read at a time. */
export const fewestRows = 50;

/** A cursor at the first row. */
export const newCursor = (): Cursor => ({ afterSeq: 0, hasGrown: false, limit: fewestRows });

/** Milliseconds between two looks of the patrol. */
export const patrolEveryMs = 5_000;

/**
 * Why the next update of a conversation waits in the journal. `no-account`: until an account is started. `parked`: until there is a place
 * for its sender, its session or its agent.
 */
export type Blocked = 'blocked' | 'no-account' | 'parked';

/** Makes a backlog of which nothing is known yet. @param mayDefer what has not begun may be left to the next host. */
export function newBacklog(rules: CrashSuspectRules & { readonly mayDefer: boolean }) {
  return {
    /** The conversations of which something is held, or is being written down. */
    lanes: new Map<string, ActiveLane>(),
    /** Updates whose write to the journal has not finished. */
    arriving: new Set<string>(),
    /** Updates that were begun here, and have not ended, with their fences. */
    begun: new Map<string, UpdateFence>(),
    /** How often the journal has suspended the updates that were begun here and have not ended. */
    suspended: new Map<string, number>(),
    /** Sends of no update that wait for an account of theirs, which does not run. */
    waitingSends: new Set<string>(),
    /** The fences of the partitions whose left sends this host has claimed, by their signals: nobody else brings those to an end. */
    claimed: new WeakSet<AbortSignal>(),
    /** The fences of the partitions whose questions to humans were read, by their signals. No update there is claimed before that. */
    asked: new WeakSet<AbortSignal>(),
    /** Conversations whose next update could not go on. Later ones wait until it is tried again. */
    blocked: new Map<string, Blocked>(),
    /** The turns of those that wait for their session or their agent. */
    turns: new ParkedTurns(),
    crashSuspects: new CrashSuspects(rules),
    /** The numbers of updates that this host cannot claim, since a row of theirs is damaged: each was told. */
    damaged: new Set<number>(),
    /** The place of the reading that claims updates in the order of their coming. Another one takes its place if it begins anew. */
    cursor: newCursor(),
    /** The place of the look that goes round and round. */
    patrol: newCursor(),
    nextPatrolMs: rules.clock.monotonicMs() + patrolEveryMs,
    /** Rows behind the cursor may not be active yet. New updates wait behind them. */
    isBehind: false,
    isReading: false,
    /** Lanes for which the journal is being asked. */
    asking: 0,
    /** Updates that run, or wait for a place. */
    held: 0,
    /** The next look begins the reading anew. */
    isToRewind: false,
    /** An update that has not begun may be left to the next host. */
    mayDefer: rules.mayDefer,
    /** The host claims no more updates, and leaves them to the next host. */
    isClosed: false,
    waitingForIdle: Array.of<() => void>(),
  };
}

/** The knowledge of a host about the updates that wait in its journal. An update that is not active takes no memory. */
export type Backlog = ReturnType<typeof newBacklog>;

/** Returns whether an update runs, or waits to be claimed. */
export function isBusy({ held, lanes, turns, isBehind, isReading, isClosed }: Backlog): boolean {
  return held > 0 || (!isClosed && (isBehind || isReading || lanes.size > 0 || turns.size > 0));
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

/** Claims nothing more, if there may be a next host: what has not begun is left to it. */
export function closeBacklog(backlog: Backlog): void {
  backlog.isClosed = backlog.mayDefer;
  if (backlog.isClosed) backlog.crashSuspects[Symbol.dispose]();
  notifyIdle(backlog);
}
