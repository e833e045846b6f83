import type { JournalStats } from '@sluice/journal';

/** Makes the counts of a host, at nought. */
export function newCounts() {
  return {
    /** Updates that its channels brought. */
    received: 0,
    /** Of those, updates that had come before: they were not handled again. */
    duplicates: 0,
    /** Of those, updates that the journal could not keep: they were neither handled nor acknowledged. */
    refused: 0,
    /** Of those, updates that were refused or dropped, because their conversation or the host was full. */
    dropped: 0,
    /** Of those, updates that had to wait in the journal alone. */
    parked: 0,
    /** Updates that joined another, whose turn answers them. */
    joined: 0,
    /** Updates that were claimed from the journal: parked ones, and after a restart or because an operator asked for it. */
    resumed: 0,
    /** Updates that went to the dead letters. */
    deadLetters: 0,
  };
}

/** The counts of a host since it was made. */
export type Counts = ReturnType<typeof newCounts>;

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
