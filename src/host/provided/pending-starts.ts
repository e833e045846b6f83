import { type Clock, growingWaitMs, type Logger, pause } from '../../kernel/index.js';
import { keyOfAccount } from './accounts.js';

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
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting = new Map<string, PendingStart & { readonly stop: AbortController }>();
  #isClosed = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  list(): readonly PendingStart[] {
    return [...this.#waiting.values()].map(({ stop: _stop, ...one }) => one);
  }

  has(channel: string, accountId: string): boolean {
    return this.#waiting.has(keyOfAccount(channel, accountId));
  }

  /** Waits, longer each time. @param then is called once: `false` if the account is not to be started any more. */
  wait(one: PendingStart, askedMs: number | undefined, then: (isDue: boolean) => Promise<void>) {
    const { channel, accountId, failures, lastFailure: detail } = one;
    const key = keyOfAccount(channel, accountId);
    const stop = new AbortController();
    if (this.#isClosed) stop.abort();
    else this.#waiting.set(key, { ...one, stop });
    const waitMs = growingWaitMs(failures - 1, askedMs);
    const named = { channel, accountId, detail };
    if (!this.#isClosed)
      this.#logger.warn(
        `account ${channel}/${accountId} could not be started; it is tried again in ${waitMs} ms`,
        named,
      );
    const due = async (): Promise<void> => {
      const isDue = await pause(this.#clock, waitMs, stop.signal);
      if (isDue) this.#waiting.delete(key);
      await then(isDue);
    };
    void due().catch((error: unknown) =>
      this.#logger.error('an account could not be started again', { ...named, error }),
    );
  }

  /** Starts those of some channels no more. */
  drop(isOf: (channel: string) => boolean): void {
    for (const [key, { channel, stop }] of this.#waiting) {
      if (!isOf(channel)) continue;
      this.#waiting.delete(key);
      stop.abort();
    }
  }

  /** Starts none any more. */
  close(): void {
    this.#isClosed = true;
    this.drop(() => true);
  }
}
