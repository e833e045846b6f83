import type { Candidate } from '../outcome/outcome.js';

/** The values that decide between two candidates. */
export type Standing = Pick<Candidate, 'explicit' | 'rank' | 'invalid'>;

/**
 * Returns whether a candidate beats the best so far: explicit beats inferred, then the higher rank; among equals the
 * earlier in run order stands. An invalid candidate beats nothing (spec §9).
 */
export function beats(candidate: Standing, best: Standing | undefined): boolean {
  if (candidate.invalid !== undefined) return false;
  if (best === undefined) return true;
  if (candidate.explicit !== best.explicit) return candidate.explicit;
  return candidate.rank > best.rank;
}
