import { type Clock, deferred, systemClock, Timer } from 'sluice-kernel/internal';

/** A run that is under way. */
export interface ActiveRun {
  readonly runId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
}

interface Entry {
  readonly run: ActiveRun;
  readonly abort: (reason: unknown) => void;
  isAborted: boolean;
}

/**
 * The runs that are under way, for those who want to stop one or wait for it. A session is named by its lasting key;
 * it may have several runs, where nobody keeps its messages apart.
 *
 * @example
 * const active = new ActiveRuns();
 * void runAgentTurn({ ...options, active });
 * if (active.abort('console:ada')) await active.ended('console:ada', { timeoutMs: 5_000 });
 */
export class ActiveRuns {
  readonly #entries = new Set<Entry>();
  readonly #waiting = new Set<() => void>();

  /** The runs, in the order in which they began. */
  get runs(): readonly ActiveRun[] {
    return [...this.#entries].map(({ run }) => run);
  }

  /** Says that a run is under way, until what is returned is disposed. */
  begin(run: ActiveRun, abort: (reason: unknown) => void): Disposable {
    const entry = { run, abort, isAborted: false };
    this.#entries.add(entry);
    return {
      [Symbol.dispose]: () => {
        this.#entries.delete(entry);
        for (const check of this.#waiting) check();
      },
    };
  }

  /** Returns whether a run of a session is under way. */
  has(sessionKey: string): boolean {
    return [...this.#entries].some(({ run }) => run.sessionKey === sessionKey);
  }

  /**
   * Stops the runs of a session; those of every session if none is named.
   *
   * @returns how many runs it has stopped: those that had been stopped before are not counted again.
   */
  abort(sessionKey?: string, reason?: unknown): number {
    const chosen = [...this.#entries].filter(
      ({ run, isAborted }) =>
        !isAborted && (sessionKey === undefined || run.sessionKey === sessionKey),
    );
    for (const entry of chosen) {
      entry.isAborted = true;
      entry.abort(reason);
    }
    return chosen.length;
  }

  /**
   * Waits until no run of a session is under way.
   *
   * @param options.timeoutMs for how many milliseconds; for ever by default.
   * @returns true if none is under way, false if the time is over.
   */
  async ended(
    sessionKey: string,
    options: { readonly timeoutMs?: number; readonly clock?: Clock } = {},
  ): Promise<boolean> {
    const { timeoutMs, clock = systemClock } = options;
    const { promise, resolve } = deferred<boolean>();
    const check = (): void => {
      if (!this.has(sessionKey)) resolve(true);
    };
    using timer = new Timer(clock);
    timer.set(timeoutMs, () => resolve(false));
    this.#waiting.add(check);
    check();
    const hasEnded = await promise;
    this.#waiting.delete(check);
    return hasEnded;
  }
}
