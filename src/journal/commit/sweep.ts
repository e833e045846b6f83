import { type Clock, Timer } from 'sluice-kernel/internal';

/** Milliseconds between two sweeps. */
const sweepEveryMs = 600_000;

/** Drops the old rows of a journal each ten minutes, and when it is told to. A sweep that fails hurts nothing else: it comes again. */
export class Sweep {
  readonly #sweep: (isClosed: () => boolean) => Promise<void>;
  readonly #timer: Timer;
  #isSweeping = false;
  #isDueAgain = false;
  #isClosed = false;

  /** @param sweep drops rows until there are no old ones, or it is closed. */
  constructor(clock: Clock, sweep: (isClosed: () => boolean) => Promise<void>) {
    this.#sweep = sweep;
    this.#timer = new Timer(clock);
  }

  /** Begins to sweep, or sweeps once more when the sweep that is under way has ended. */
  start(): void {
    this.#isDueAgain = true;
    if (!this.#isSweeping) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.clear();
  }

  async #run(): Promise<void> {
    this.#isSweeping = true;
    while (this.#isDueAgain && !this.#isClosed) {
      this.#isDueAgain = false;
      await this.#sweep(() => this.#isClosed).catch(() => undefined); // the writes that the database refuses tell of it
    }
    this.#isSweeping = false;
    if (!this.#isClosed) this.#timer.setIdly(sweepEveryMs, () => this.start());
  }
}
