import type { CoderStreamEvent } from './coder-event.js';

/** The fields that every event has, and that are added last. */
type Common = 'provider' | 'ts' | 'originalItem';

/** An event before it is told when, and of what, it was made. */
export type CoderBody = {
  [E in CoderStreamEvent as E['type']]: Omit<E, Common>;
}[CoderStreamEvent['type']];

/** Completes an event. The body becomes it: a copy would cost more than all other work for a piece of text. */
export function coderEvent(body: CoderBody, ts: number, originalItem: unknown): CoderStreamEvent {
  return Object.assign(body, { provider: 'claude', ts, originalItem } as const);
}
