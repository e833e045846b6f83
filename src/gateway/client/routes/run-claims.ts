import { Recent } from '../../../stream/index.js';

/** Runs whose claim has ended, and of which events may still come. */
const remembered = 1_000;

/** The runs that somebody dispatches already, or has dispatched, so that nobody tells them a second time. */
export class RunClaims {
  readonly #runs = new Map<string, number>();
  readonly #sessions = new Map<string, number>();
  readonly #released = new Recent<string, true>(remembered);

  get size(): number {
    return this.#runs.size + this.#sessions.size;
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Whether a run is claimed, or was, or is of a session whose run has no name yet. */
  covers(runId: string, sessionKey = ''): boolean {
    return (
      this.#runs.has(runId) ||
      this.#released.has(runId) ||
      this.#sessions.has(sessionKey.toLowerCase())
    );
  }

  /** Claims a run, until what is returned is disposed. */
  addRun(runId: string): Disposable {
    return hold(this.#runs, runId, () => this.#released.set(runId, true));
  }

  /** Claims what runs in a session, until what is returned is disposed. Gateways write keys in lower case. */
  addSession(sessionKey: string): Disposable {
    return hold(this.#sessions, sessionKey.toLowerCase(), () => undefined);
  }
}

function hold(held: Map<string, number>, key: string, onRelease: () => void): Disposable {
  held.set(key, (held.get(key) ?? 0) + 1);
  let isOver = false;
  return {
    [Symbol.dispose]: () => {
      if (isOver) return;
      isOver = true;
      const left = (held.get(key) ?? 1) - 1;
      if (left > 0) held.set(key, left);
      else held.delete(key);
      onRelease();
    },
  };
}
