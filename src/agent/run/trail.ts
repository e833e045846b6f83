import type { AsyncFamily, Given, Kernel, Outcome, PayloadOf, SyncFamily } from 'sluice-kernel';
import { passesUnmade } from 'sluice-kernel/internal';

/** The refs that every dispatch of a trail carries in its envelope. */
export type TrailRefs = Pick<
  Given,
  | 'agentId'
  | 'sessionId'
  | 'accountRef'
  | 'conversationRef'
  | 'threadRef'
  | 'messageRef'
  | 'correlationId'
  | 'metadata'
  | 'principal'
>;

/**
 * Dispatches that follow one another: each is given the outcome before it, so that annotations, refs and
 * correlation travel downstream (spec §7).
 *
 * @example
 * const trail = new Trail(kernel, received, { agentId: 'main' });
 * const resolved = await trail.dispatch('routing.resolved', payload);
 */
export class Trail {
  readonly kernel: Kernel;
  #refs: TrailRefs;
  #last: Outcome | undefined;
  /** The data of a dispatch that adds none of its own, until `#refs` or `#last` changes. */
  #carried: Given | undefined;

  constructor(kernel: Kernel, after: Outcome | undefined, refs: TrailRefs = {}) {
    this.kernel = kernel;
    this.#last = after;
    this.#refs = Object.freeze({ ...refs });
  }

  /** The outcome that the next dispatch follows. */
  get last(): Outcome | undefined {
    return this.#last;
  }

  /** The event id of the message that it belongs to; nothing before the first outcome. */
  get correlationId(): string | undefined {
    return this.#last?.event.correlationId;
  }

  /** Adds to what every further dispatch carries. */
  carry(refs: TrailRefs): void {
    this.#refs = Object.freeze({ ...this.#refs, ...refs });
    this.#carried = undefined;
  }

  /** Goes on after an outcome that another dispatcher of the same way has made. */
  follow(outcome: Outcome | undefined): void {
    this.#last = outcome ?? this.#last;
    this.#carried = undefined;
  }

  /** A trail that goes on from here on its own. */
  fork(refs: TrailRefs = {}): Trail {
    return new Trail(this.kernel, this.#last, { ...this.#refs, ...refs });
  }

  /** Dispatches an event after the last one; its own metadata joins the trail's. Rejects as `kernel.dispatch` does. */
  dispatch<F extends AsyncFamily>(
    family: F,
    payload: PayloadOf<F>,
    given?: Given<F>,
  ): Promise<Outcome<F>> {
    return this.kernel.dispatch(family, payload, this.#given(given)).then((outcome) => {
      this.#last = outcome;
      this.#carried = undefined;
      return outcome;
    });
  }

  /**
   * The same for a stage whose outcome matters only if somebody hears it. If nobody does, nothing of it is made: it has passed, and
   * what follows goes on after the outcome before.
   *
   * @returns nothing if nobody hears it.
   */
  tell<F extends AsyncFamily>(
    family: F,
    make: () => PayloadOf<F>,
    signal?: Given['signal'],
  ): Promise<Outcome<F>> | undefined {
    if (this.passes(family, signal)) return undefined;
    return this.dispatch(family, make(), signal && { signal });
  }

  /** Counts a dispatch that nobody hears now, which need not be made. */
  passes(family: AsyncFamily | SyncFamily, signal?: Given['signal']): boolean {
    return passesUnmade(this.kernel, this.#last, family, signal);
  }

  /** The same for a sync-sequential family. Such an outcome adds nothing downstream, so the trail stays put. */
  dispatchSync<F extends SyncFamily>(
    family: F,
    payload: PayloadOf<F>,
    given?: Given<F>,
  ): Outcome<F> {
    return this.kernel.dispatchSync(family, payload, this.#given(given));
  }

  #given<F extends AsyncFamily | SyncFamily>(given: Given<F> | undefined): Given<F> {
    this.#carried ??=
      this.#last === undefined ? this.#refs : Object.freeze({ ...this.#refs, after: this.#last });
    if (given === undefined) return this.#carried; // as for each piece of a text
    const { metadata } = given;
    return {
      ...this.#carried,
      ...given,
      ...(metadata !== undefined && { metadata: { ...this.#refs.metadata, ...metadata } }),
    };
  }
}
