import { type Clock, Timer } from 'sluice-kernel/internal';

/**
 * The lease of a host by its own monotonic clock, counted from before a renewal was sent (durability §11.4): it is over before
 * any other host may think so, whatever the clock of the database says.
 */
export class OwnLease implements Disposable {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #timer: Timer;
  readonly #onOver: () => void;
  #renewedAtMs = 0;

  /** @param onOver is called when the lease is over, and again when it is over after a later renewal. */
  constructor(clock: Clock, leaseMs: number, onOver: () => void) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#timer = new Timer(clock);
    this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#leftMs <= 0;
  }

  get #leftMs(): number {
    return this.#renewedAtMs + this.#leaseMs - this.#clock.monotonicMs();
  }

  /** @param fromMs the monotonic time before the renewal was sent that has an answer now. */
  renewed(fromMs: number): void {
    this.#renewedAtMs = Math.max(this.#renewedAtMs, fromMs);
    this.#timer.setIdly(Math.max(0, this.#leftMs), () => setImmediate(this.#end)); // an answer that is there already is read first
  }

  readonly #end = (): void => {
    if (this.isOver) this.#onOver();
  };

  [Symbol.dispose](): void {
    this.#timer.clear();
  }
}
