import type { JournalStats } from '../journal/journal.js';

/** The counts of a host since it was made. */
export interface Counts {
  /** Updates that its channels brought. */
  received: number;
  /** Of those, updates that had come before: they were not handled again. */
  duplicates: number;
  /** Of those, updates that the journal could not keep: they were neither handled nor acknowledged. */
  refused: number;
  /** Of those, updates that were refused or dropped, because their conversation or the host was full. */
  dropped: number;
  /** Of those, updates that had to wait in the journal alone. */
  parked: number;
  /** Updates that joined another, whose turn answers them. */
  joined: number;
  /** Updates that were taken up from the journal: parked ones, and after a restart or because an operator asked for it. */
  resumed: number;
  /** Updates that went to the dead letters. */
  deadLetters: number;
}

/** The sends that have ended since the host was made, by their ends. */
export interface SendEnds {
  sent: number;
  cancelled: number;
  failed: number;
}

/** The work of a host now, and its counts. */
export interface HostStats extends Readonly<Counts> {
  /** Conversations in which something runs or waits; an idle one takes no room. */
  readonly conversations: number;
  /** Updates that run or wait. */
  readonly waiting: number;
  /** Updates that run: at most `maxRunning`, besides what runs at once. */
  readonly running: number;
  readonly sends: Readonly<SendEnds>;
  readonly journal?: JournalStats;
}

/** Counts at nought. */
export function newCounts(): Counts {
  return {
    received: 0,
    duplicates: 0,
    refused: 0,
    dropped: 0,
    parked: 0,
    joined: 0,
    resumed: 0,
    deadLetters: 0,
  };
}
