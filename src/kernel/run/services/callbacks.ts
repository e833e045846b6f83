import { whenSettled } from '../../value/thenable.js';
import type { HandlerCall } from './call.js';

/** The one that hears how a promise has settled. */
export interface Waiter {
  /** @param place which of the promises it waits for. */
  fulfilled(place: number, value: unknown): void;
  rejected(place: number, reason: unknown): void;
}

const maxSpares = 64;

/**
 * Pairs of callbacks for the promises of handlers. Making two closures costs more than the rest of a wait, and a promise calls
 * back once: then its pair serves the next promise, whichever dispatch that belongs to.
 */
export class CallbackPairs {
  readonly #spares: CallbackPair[] = [];

  /** Waits for the promise of the handler at a place, which got a call of its own. */
  wait(
    pending: PromiseLike<unknown>,
    waiter: Waiter,
    place: number,
    call: HandlerCall,
  ): CallbackPair {
    const pair = this.#spares.pop() ?? new CallbackPair(this);
    pair.waiter = waiter;
    pair.place = place;
    pair.call = call;
    whenSettled(pending, pair.fulfilled, pair.rejected);
    return pair;
  }

  /** Takes a pair back that has been called. */
  keep(pair: CallbackPair): void {
    pair.waiter = undefined;
    pair.call = undefined;
    if (this.#spares.length < maxSpares) this.#spares.push(pair);
  }
}

/** One pair, and the one that hears how its promise settles: another, once the first has given the handler up. */
export class CallbackPair {
  waiter: Waiter | undefined = undefined;
  place = 0;
  call: HandlerCall | undefined = undefined;
  readonly fulfilled: (value: unknown) => void;
  readonly rejected: (reason: unknown) => void;

  constructor(pairs: CallbackPairs) {
    this.fulfilled = (value) => {
      const { waiter, place } = this;
      pairs.keep(this);
      waiter?.fulfilled(place, value);
    };
    this.rejected = (reason) => {
      const { waiter, place } = this;
      pairs.keep(this);
      waiter?.rejected(place, reason);
    };
  }
}
