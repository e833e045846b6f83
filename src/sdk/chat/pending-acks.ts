import { type Clock, getOrMake, type TimerHandle } from 'sluice-kernel/internal';
import { Recent } from '../stream/internal.js';

/** The answer to one delivery of an update. */
export interface Delivery {
  /** The provider need not bring the update again. */
  readonly done: () => void;
  /** The provider should bring it again. */
  readonly refuse: () => void;
}

/** Updates that are remembered when they are done with. */
const remembered = 2_000;

/** The options of deliveries that wait. */
export interface Patience {
  /** Milliseconds after which a delivery is answered although its update is not done with. */
  readonly patienceMs: number;
  /** Deliveries of one conversation that wait, at most: a new one has the oldest answered early. Any number if absent. */
  readonly share?: number;
  /** Is told that a delivery is answered so. */
  readonly onEarly: () => void;
}

/** An update that is not done with. */
interface Pending {
  /** The host has it. */
  isTaken: boolean;
  readonly conversation: string;
  /** Those that wait for it, each with the timer that ends its wait; one that has run out has none. */
  readonly deliveries: Map<Delivery, TimerHandle | undefined>;
}

/**
 * Deliveries that wait for their updates. An update that is brought again while it is not done with waits, too. None is
 * answered before the host has taken its update in: its provider would forget what nobody keeps.
 *
 * @example
 * const acks = new PendingAcks(clock, { patienceMs: 10_000, onEarly: () => log.warn('an update is confirmed early') });
 * if (acks.take(id, { done: () => answer(response, 200), refuse: () => answer(response, 503) })) await inbox.receive(update);
 */
export class PendingAcks {
  readonly #pending = new Map<string, Pending>();
  /** By their conversations, the deliveries whose wait has not run out, oldest first. */
  readonly #waiting = new Map<string, Map<Delivery, Pending>>();
  readonly #done = new Recent<string, true>(remembered);
  readonly #clock: Clock;
  readonly #patience: Patience;

  constructor(clock: Clock, patience: Patience) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /** Takes a delivery. @param conversation of its update: it counts in the share of that. @returns whether its update is new. */
  take(id: string, delivery: Delivery, conversation = ''): boolean {
    if (this.#done.has(id)) {
      delivery.done();
      return false;
    }
    const known = this.#pending.get(id);
    const pending: Pending = known ?? { isTaken: false, conversation, deliveries: new Map() };
    this.#pending.set(id, pending);
    const { patienceMs, share = Number.POSITIVE_INFINITY } = this.#patience;
    const timer = this.#clock.setTimeout(() => this.#runOut(pending, delivery), patienceMs);
    pending.deliveries.set(delivery, timer);
    const ofConversation = getOrMake(this.#waiting, pending.conversation, () => new Map());
    ofConversation.set(delivery, pending);
    const [oldest] = ofConversation;
    if (ofConversation.size > share && oldest !== undefined) this.#runOut(oldest[1], oldest[0]);
    return known === undefined;
  }

  /** Says that the host has an update. */
  taken(id: string): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    pending.isTaken = true;
    this.#answerEarly(pending);
  }

  /** Says that an update is done with, or kept. */
  finish(id: string): void {
    this.#release(id, 'done');
    this.#done.set(id, true);
  }

  /** Says that an update was not taken in: it is new when it comes again. */
  refuse(id: string): void {
    this.#release(id, 'refuse');
  }

  /** Answers all that wait: they come again. */
  close(): void {
    for (const id of [...this.#pending.keys()]) this.refuse(id);
  }

  #answerEarly({ isTaken, deliveries }: Pending): void {
    if (!isTaken) return;
    for (const [delivery, timer] of deliveries) {
      if (timer !== undefined) continue;
      deliveries.delete(delivery);
      this.#patience.onEarly();
      delivery.done();
    }
  }

  /** The wait of a delivery is over. */
  #runOut(pending: Pending, delivery: Delivery): void {
    this.#stopWaiting(pending, delivery);
    pending.deliveries.set(delivery, undefined);
    this.#answerEarly(pending);
  }

  #stopWaiting({ conversation, deliveries }: Pending, delivery: Delivery): void {
    const timer = deliveries.get(delivery);
    if (timer !== undefined) this.#clock.clearTimeout(timer);
    const ofConversation = this.#waiting.get(conversation);
    ofConversation?.delete(delivery);
    if (ofConversation?.size === 0) this.#waiting.delete(conversation);
  }

  #release(id: string, how: keyof Delivery): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (pending === undefined) return;
    for (const delivery of pending.deliveries.keys()) {
      this.#stopWaiting(pending, delivery);
      delivery[how]();
    }
  }
}
