/** The rows of a journal that have not ended, by state. Each kind is counted up to 100,000. */
export interface JournalCounts {
  /** `dead` are the dead letters. */
  readonly updates: { readonly accepted: number; readonly handling: number; readonly dead: number };
  /** When the oldest dead letter ended, in milliseconds since 1970; absent if there is none. */
  readonly oldestDeadAtMs?: number;
  readonly sends: { readonly prepared: number; readonly sending: number };
}

/** The counts of a journal since it was opened. */
export interface JournalStats {
  readonly accepted: number;
  /** The updates that came again. */
  readonly duplicates: number;
  /** The dispatches that were persisted, and the other entries of timelines (sight §1). */
  readonly dispatches: number;
  /** Those that were not persisted: more of them came than may wait to be written, or a write failed. */
  readonly dispatchesDropped: number;
  /** The characters of the dispatches that wait to be written. */
  readonly charactersWaiting: number;
  /** Transactions since it was opened, and the milliseconds that all of them took. */
  readonly commits: number;
  readonly commitMs: number;
}
