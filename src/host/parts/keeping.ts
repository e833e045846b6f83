import type { HostParts } from './parts.js';

/** A host's parts, with a journal. */
export type KeepingParts = HostParts & {
  readonly journal: NonNullable<HostParts['journal']>;
  readonly outbox: NonNullable<HostParts['outbox']>;
};

/** Tells whether a host keeps a journal. */
export function keeps(parts: HostParts): parts is KeepingParts {
  return parts.journal !== undefined && parts.outbox !== undefined;
}
