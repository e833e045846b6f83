import type { Fence, UpdateFence } from '../../src/journal/index.js';

/** A fence of a journal of one host, as its ownership gives it. */
export const fence: Fence = { partition: 0, epoch: 0, signal: new AbortController().signal };

/** The fence of an update. */
export function fenceOf(eventId: string): UpdateFence {
  return { ...fence, eventId };
}
