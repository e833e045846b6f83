import { type Clock, type Logger, Timer } from 'sluice-kernel/internal';

const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

/** An account that could not be started yet, and is started again. */
export interface PendingStart {
  readonly channel: string;
  readonly accountId: string;
  /** How often it could not be started. */
  readonly failures: number;
  /** The code of its last error, if it has one, such as `too_many_websockets`. */
  readonly code?: string;
  /** The text of that error. */
  readonly lastFailure: string;
}

/** The accounts that wait to be started again (spec §14.18). */
export class PendingStarts {
  readonly #waiting = new Map<PendingStart, () => void>();
  #isClosed = false;

  list(): readonly PendingStart[] {
    return [...this.#waiting.keys()];
  }

  /**
   * Waits, longer each time.
   *
   * @param over is told at the end of the wait whether the account is to be started then.
   */
  add(
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
    one: PendingStart,
    askedMs: number,
    over: (isDue: boolean) => void,
  ): void {
    if (this.#isClosed) return;
    const { channel, accountId, failures, code = 'unknown', lastFailure: detail } = one;
    const ms = Math.max(askedMs, Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)));
    logger.warn(
      `account ${channel}/${accountId} could not be started (${code}); it is tried again in ${ms} ms`,
      { channel, accountId, detail },
    );
    const timer = new Timer(clock);
    const end = (isDue: boolean): void => {
      timer.clear();
      this.#waiting.delete(one);
      over(isDue);
    };
    this.#waiting.set(one, () => end(false));
    timer.set(ms, () => end(true));
  }

  /** Starts those of some channels no more. */
  drop(isOf: (channel: string) => boolean): void {
    for (const [{ channel }, end] of this.#waiting) if (isOf(channel)) end();
  }

  /** Starts none any more. */
  close(): void {
    this.#isClosed = true;
    this.drop(() => true);
  }
}
