import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from 'sluice-kernel';

/** The first element is a count of milliseconds, or 0. */
type Counted = { readonly [0]: number };

/** Milliseconds that another thread counts: 0 until it runs, and again when it has failed. */
export interface Ticks extends Disposable {
  readonly counted: Counted;
}

/** Milliseconds between two ticks. */
export const tickMs = 25;

/** Readings between two beats from which on a reading is to cost nothing: so many cost some thousandths of the time. */
const manyReadings = 10_000;

const uncounted = countOf(new Int32Array(1));

/**
 * Measures how long a call blocks. A reading of the platform's clock costs as much as a small handler. So a busy process has a
 * thread count the time (9 MB): its count costs nothing to read, and is coarse. The thread is started when it pays.
 *
 * @example
 * const { counted } = loopClock;
 * const beganMs = counted[0] || loopClock.readMs();
 * work();
 * if ((counted[0] || loopClock.readMs()) - beganMs >= loopClock.limitMs) tell();
 */
export class LoopClock implements Disposable {
  /** The count of the thread if that runs. It is another one only after a beat. */
  counted = uncounted;
  /** From how many milliseconds between two readings on a call has blocked for `blockedAfterMs`: a count may be too small. */
  limitMs: number;
  readonly #blockedAfterMs: number;
  readonly #clock: Clock;
  #startTicks: (() => Ticks) | undefined;
  #ticks: Ticks | undefined;
  #readings = 0;

  /** @param startTicks by default a thread, which counts the time of the platform; no thread can count that of another clock. */
  constructor(
    blockedAfterMs: number,
    clock: Clock,
    startTicks = clock === systemClock ? ticksOfThread : undefined,
  ) {
    this.limitMs = blockedAfterMs;
    this.#blockedAfterMs = blockedAfterMs;
    this.#clock = clock;
    this.#startTicks = startTicks;
  }

  /** Reads the platform's clock. */
  readMs(): number {
    this.#readings++;
    return this.#clock.monotonicMs();
  }

  /** To be called now and then, and not within a call that is measured. */
  beat(): void {
    if (this.#readings >= manyReadings) this.#ticks ??= this.#started();
    this.#readings = 0;
    const { counted = uncounted } = this.#ticks ?? {};
    this.counted = counted[0] > 0 ? counted : uncounted;
    this.limitMs = this.#blockedAfterMs - (this.counted === uncounted ? 0 : tickMs);
  }

  /** A process that may start no thread goes on with the platform's clock. */
  #started(): Ticks | undefined {
    const startTicks = this.#startTicks;
    this.#startTicks = undefined; // it is not tried again
    try {
      return startTicks?.();
    } catch {
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#ticks?.[Symbol.dispose]();
    this.#ticks = undefined;
    this.counted = uncounted;
  }
}

function countOf(cells: Int32Array): Counted {
  return cells as unknown as Counted; // it has one element
}

/**
 * A thread that gets no time counts none: what it has not seen is not laid at the door of the call that runs then. The count is a
 * small integer, which V8 reads without making an object, and begins again after 12 days: one call then seems short.
 */
const code = `
  const { counted, tickMs } = require('node:worker_threads').workerData;
  let lastMs = performance.now();
  setInterval(() => {
    const ms = Math.round(performance.now() - lastMs);
    counted[0] = (counted[0] + Math.min(ms, 4 * tickMs)) % 2 ** 30 || 1;
    lastMs += ms;
  }, tickMs);`;

function ticksOfThread(): Ticks {
  const counted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const small = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 };
  const thread = new Worker(code, {
    ...{ eval: true, execArgv: [], env: {} }, // what a user has node load first is loaded once
    workerData: { counted, tickMs },
    resourceLimits: small,
  });
  thread.on('error', () => counted.fill(0)); // it has ended: the platform's clock is read again
  thread.unref();
  return { counted: countOf(counted), [Symbol.dispose]: () => void thread.terminate() };
}
