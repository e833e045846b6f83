import type { UpdateHold } from '@sluice/journal';
import type { SuspectRules } from './suspects.js';
import { Suspects } from './suspects.js';

/** A conversation of which something is in hand; the rest of it waits in the journal. */
export interface KeptLane {
  /** How many of its updates are in hand. */
  held: number;
  /** More of it may wait in the journal. */
  hasMore: boolean;
  /** More has come since the journal was read for it. */
  hasGrown: boolean;
  /** Updates that a journal of an older version has kept without a lane. They are older than the others. */
  readonly unnamed: string[];
}

/** Makes a backlog of which nothing is known yet. */
export function newBacklog(rules: SuspectRules) {
  return {
    /** The conversations of which something is in hand. */
    lanes: new Map<string, KeptLane>(),
    /** Updates that are being written down. */
    arriving: new Set<string>(),
    /** How many updates of a conversation are being written down, and have no place in it yet. */
    arrivingIn: new Map<string, number>(),
    /** Updates that were begun here, and have not ended, with their holds. */
    begun: new Map<string, UpdateHold>(),
    /** Updates that wait for an account of theirs, which does not run. */
    waiting: new Set<string>(),
    /** Sends of no update that wait for an account of theirs, which does not run. */
    waitingSends: new Set<string>(),
    /** The holds for whose parts the sends were taken up that nobody else brings to an end, by their signals. */
    taken: new WeakSet<AbortSignal>(),
    /** The holds for whose parts the questions to humans were read, by their signals: not before is an update of theirs taken up. */
    asked: new WeakSet<AbortSignal>(),
    /** Conversations of which one could not be begun: none that comes after it is, until the journal is read anew. */
    heldUp: new Set<string>(),
    /** Those of them that the last reading from the first row was to free. */
    freed: Array.of<string>(),
    /** Conversations that are full in a shared journal, of which a sender was told: until half of the room is free again. */
    toldFull: new Set<string>(),
    suspects: new Suspects(rules),
    /** The numbers of updates that this host cannot take up, since a row of theirs is damaged: each was told. */
    damaged: new Set<number>(),
    /** The journal has been read for open updates as far as this row. */
    afterSeq: 0,
    /** Rows behind that one may not be in hand yet. New updates wait behind them. */
    isBehind: false,
    /** More has come since the journal was read. */
    hasGrown: false,
    isReading: false,
    /** How often it was begun anew from the first row. */
    rewinds: 0,
    /** The journal could not be read: it is begun anew. */
    isToRewind: false,
    /** Nothing is taken up any more: it is left to the next host. */
    isClosed: false,
    waitingForIdle: Array.of<() => void>(),
  };
}

/** The knowledge of a host about the updates that wait in its journal. An update that is not in hand takes no memory. */
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

/** Tells whether anything of it is in hand, or is to be taken up. */
export function isBusy({ lanes, isBehind, isReading, isClosed }: Backlog): boolean {
  return !isClosed && (isBehind || isReading || lanes.size > 0);
}

/** Tells who waits for it, once nothing is left to do. */
export function tellIdle(backlog: Backlog): void {
  if (!isBusy(backlog)) for (const resolve of backlog.waitingForIdle.splice(0)) resolve();
}

/** Resolves when nothing of it is in hand, and nothing is to be taken up. */
export async function backlogIdle(backlog: Backlog): Promise<void> {
  if (isBusy(backlog))
    await new Promise<void>((resolve) => {
      backlog.waitingForIdle.push(resolve);
    });
}

/** Takes nothing more up: what has not begun is left to the next host. */
export function closeBacklog(backlog: Backlog): void {
  backlog.isClosed = true;
  backlog.suspects[Symbol.dispose]();
  tellIdle(backlog);
}
