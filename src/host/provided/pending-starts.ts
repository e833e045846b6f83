import { growingWaitMs, pause } from '../../kernel/index.js';
import type { SendParts } from '../parts/parts.js';

/** An account that could not be started yet, and is started again. */
export interface PendingStart {
  readonly channel: string;
  readonly accountId: string;
  /** How often it could not be started. */
  readonly failures: number;
  /** Why, the last time. */
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
    { clock, logger }: Pick<SendParts, 'clock' | 'logger'>,
    one: PendingStart,
    askedMs?: number,
  ): Promise<boolean> {
    if (this.#isClosed) return false;
    const { channel, accountId, failures, lastFailure } = one;
    const waitMs = growingWaitMs(failures - 1, askedMs);
    const what = `account ${channel}/${accountId} could not be started: ${lastFailure}`;
    logger.warn(`${what}; it is tried again in ${waitMs} ms`, { channel, accountId });
    const stop = new AbortController();
    this.#waiting.set(one, stop);
    const isDue = await pause(clock, waitMs, stop.signal);
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
