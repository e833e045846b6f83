import { HeldKeys } from '../../../run/index.js';
import { Recent } from '../../../stream/internal.js';

/** Bounds the runs that are remembered after their claim has ended, since events of them may still come. */
const maxReleased = 1_000;

/** The runs that have, or had, a dispatcher here: a bridge would tell their facts a second time. */
export class RunClaims {
  readonly #runs = new HeldKeys();
  readonly #sessions = new HeldKeys();
  readonly #released = new Recent<string, true>(maxReleased);

  get size(): number {
    return this.#runs.size + this.#sessions.size;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Tells whether a run is claimed, was claimed lately, or belongs to a session whose run has no name yet. */
  covers(runId: string, sessionKey = ''): boolean {
    return (
      this.#runs.has(runId) ||
      this.#released.has(runId) ||
      this.#sessions.has(sessionKey.toLowerCase())
    );
  }

  /** Claims a run, until the returned object is disposed. */
  addRun(runId: string): Disposable {
    const release = this.#runs.hold(runId);
    return {
      [Symbol.dispose]: () => {
        release();
        this.#released.set(runId, true);
      },
    };
  }

  /** Claims all runs of a session, until the returned object is disposed. Gateways write keys in lower case. */
  addSession(sessionKey: string): Disposable {
    return { [Symbol.dispose]: this.#sessions.hold(sessionKey.toLowerCase()) };
  }
}
