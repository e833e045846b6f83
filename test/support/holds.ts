import type { Hold, UpdateHold } from '../../src/journal/index.js';

/** A hold of a journal of one host, as its ownership gives it. */
export const hold: Hold = { part: 0, epoch: 0, signal: new AbortController().signal };

/** The hold of an update. */
export function holdOf(eventId: string): UpdateHold {
  return { ...hold, eventId };
}
