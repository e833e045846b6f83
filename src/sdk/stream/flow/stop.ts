import type { StopListener, StopSignal } from 'sluice-kernel/internal';

export type { StopSignal };

/**
 * A signal to stop, and the right to give it. One of Node costs ten times as much: it is made when somebody outside asks for it.
 *
 * @example
 * using stop = new Stop(turn.signal);
 * provider.run({ signal: stop.signal });
 */
export class Stop implements StopSignal, Disposable {
  readonly #before: readonly StopSignal[];
  #listeners: StopListener[] = [];
  #aborted = false;
  #reason: unknown;
  #node: AbortController | undefined;

  /** @param before each of them stops this one, too, until it is disposed. */
  constructor(...before: readonly (StopSignal | undefined)[]) {
    this.#before = before.filter((one) => one !== undefined);
    for (const one of this.#before) one.addEventListener('abort', this, { once: true });
    this.handleEvent();
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The same, for whoever needs one of Node. */
  get signal(): AbortSignal {
    this.#node ??= new AbortController();
    if (this.#aborted) this.#node.abort(this.#reason);
    return this.#node.signal;
  }

  addEventListener(_type: 'abort', listener: StopListener): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    const at = this.#listeners.lastIndexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Gives the signal, once. Node's own reason stands for one that is not given. */
  abort(reason: unknown = AbortSignal.abort().reason): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#node?.abort(reason);
    this[Symbol.dispose]();
    this.#tell();
  }

  /** Tells each listener, also if one before throws. One may take back those after it. */
  #tell(): void {
    const listener = this.#listeners.shift();
    if (listener === undefined) return;
    try {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    } finally {
      this.#tell();
    }
  }

  /** Looks if one before has aborted. */
  handleEvent(): void {
    for (const { aborted, reason } of this.#before) if (aborted) this.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const one of this.#before) one.removeEventListener('abort', this);
  }
}

/** The signal of Node that aborts when one of these does. */
export function anySignal(...stops: readonly (StopSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(stops.filter((one) => one !== undefined).map(nodeSignal));
}

/** The signal of Node that is or stands for a signal. */
export function nodeSignal(stop: StopSignal): AbortSignal {
  if (stop instanceof AbortSignal) return stop;
  return (stop instanceof Stop ? stop : new Stop(stop)).signal;
}
