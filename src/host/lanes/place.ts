import type { Slots } from './slots.js';

/** The place of a message among those that run. It is left while the message waits for another, so that others run. */
export interface Place {
  /** @param isForPerson it waits for a person, which may take days. */
  leave(isForPerson?: boolean): void;
  /** Resolves when there is a place again. Rejects if the message may not go on (`isLost`). */
  enter(): Promise<void>;
  /** The message does not go on in this host, and has not ended: it is left in the journal. */
  putOff?(): void;
  /** The message may not go on, and did not fail: it is taken up again later. */
  readonly isLost?: boolean;
}

/** The place of what has taken a slot. */
export function placeOf(slots: Slots): Place {
  return { leave: () => slots.give(), enter: () => slots.retake() };
}

/** Of what takes no slot: a command that runs at once, say. */
export const noPlace: Place = { leave: () => undefined, enter: async () => undefined };
