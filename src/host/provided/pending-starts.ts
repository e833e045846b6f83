import { type Clock, type Logger, pause } from '../../kernel/index.js';

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
  readonly #waiting = new Map<PendingStart, AbortController>();
  #isClosed = false;

  list(): readonly PendingStart[] {
    return [...this.#waiting.keys()];
  }

  /** Waits, longer each time. @returns whether the account is to be started then. */
  async wait(
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
    one: PendingStart,
    askedMs: number,
  ): Promise<boolean> {
    if (this.#isClosed) return false;
    const { channel, accountId, failures, code = 'unknown', lastFailure: detail } = one;
    const ms = Math.max(askedMs, Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)));
    logger.warn(
      `account ${channel}/${accountId} could not be started (${code}); it is tried again in ${ms} ms`,
      { channel, accountId, detail },
    );
    const stop = new AbortController();
    this.#waiting.set(one, stop);
    const isDue = await pause(clock, ms, stop.signal);
    this.#waiting.delete(one);
    return isDue;
  }

  /** Starts those of some channels no more. */
  drop(isOf: (channel: string) => boolean): void {
    for (const [{ channel }, stop] of this.#waiting) if (isOf(channel)) stop.abort();
  }

  /** Starts none any more. */
  close(): void {
    this.#isClosed = true;
    this.drop(() => true);
  }
}
