import type { Clock } from 'sluice';

/** The most that one page receives in any second. */
export const pacePerSecond = { events: 10, bytes: 100_000 } as const;

/**
 * Keeps an event stream within its pace: in no second more than so many events and bytes.
 *
 * @example
 * if (pace.takes(Buffer.byteLength(text))) response.write(text);
 */
export class Pace {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #sent: { readonly atMs: number; readonly bytes: number }[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Tells if an event of that size may go out now, and counts it then. */
  takes(bytes: number): boolean {
    const atMs = this.#clock.monotonicMs();
    this.#sent = this.#sent.filter((one) => atMs - one.atMs < 1_000);
    const total = this.#sent.reduce((sum, one) => sum + one.bytes, bytes);
    if (this.#sent.length >= pacePerSecond.events || total > pacePerSecond.bytes) return false;
    this.#sent.push({ atMs, bytes });
    return true;
  }
}
