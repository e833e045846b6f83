/** The rows of a journal that have not ended, by state. Each kind is counted up to 100,000. */
export interface JournalCounts {
  /** `dead` are the dead letters. */
  readonly updates: { readonly accepted: number; readonly handling: number; readonly dead: number };
  /** When the oldest dead letter ended, in milliseconds since 1970; absent if there is none. */
  readonly oldestDeadAtMs?: number;
  readonly sends: { readonly prepared: number; readonly sending: number };
}

/** The rows that are counted at most. */
export const mostCounted = 100_000;
