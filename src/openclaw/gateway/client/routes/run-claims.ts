import { HeldKeys } from '@sluice/agent/internal';
import { Recent } from '@sluice/sdk/stream/internal';

/** Bounds the runs that are remembered after their claim has ended, since events of them may still come. */
const maxReleased = 1_000;

/** The runs that have, or had, a dispatcher here: a bridge would tell their facts a second time. */
export function runClaims() {
  const runs = new HeldKeys();
  const sessions = new HeldKeys();
  const released = new Recent<string, true>(maxReleased);

  return {
    size: (): number => runs.size + sessions.size,
    has: (runId: string): boolean => runs.has(runId),

    /** Returns whether a run is claimed, was claimed lately, or belongs to a session whose run has no name yet. */
    covers: (runId: string, sessionKey = ''): boolean =>
      runs.has(runId) || released.has(runId) || sessions.has(sessionKey.toLowerCase()),

    /** Claims a run, until the returned object is disposed. */
    addRun(runId: string): Disposable {
      const release = runs.hold(runId);
      return {
        [Symbol.dispose]: () => {
          release();
          released.set(runId, true);
        },
      };
    },

    /** Claims all runs of a session, until the returned object is disposed. Gateways write keys in lower case. */
    addSession: (sessionKey: string): Disposable => ({
      [Symbol.dispose]: sessions.hold(sessionKey.toLowerCase()),
    }),
  };
}
