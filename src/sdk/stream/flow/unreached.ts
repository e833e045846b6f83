import type { StreamDelta } from '../stream-delta.js';

/** Error deltas of runs that never reached their agent. A delta has no field for it: its shape is seed 003's. */
const unreached = new WeakSet<StreamDelta>();

/**
 * An error delta that says that nothing was asked of the agent: who wants to may ask again.
 *
 * @example
 * yield unreachedError('the gateway refuses the connection');
 */
export function unreachedError(error: string): StreamDelta & { phase: 'error' } {
  const delta = { phase: 'error', error } as const;
  unreached.add(delta);
  return delta;
}

/**
 * Returns whether the run of a delta may have reached its agent. After an error of such a run a second question may run the
 * agent twice.
 *
 * @example
 * if (delta.phase === 'error' && !hasReachedAgent(delta)) return provider.trigger?.(context);
 */
export function hasReachedAgent(delta: StreamDelta): boolean {
  return !unreached.has(delta);
}
