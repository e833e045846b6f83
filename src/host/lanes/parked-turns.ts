import type { Lanes } from './lanes.js';
import type { Slots } from './slots.js';

/** The places of a turn: its session, and one of those of its agent, if that has a limit. */
export interface TurnPlaces {
  readonly sessions: Lanes;
  readonly sessionKey: string;
  readonly slots: Slots | undefined;
}

/** Says of a message that it is left in the journal until its turn comes. */
export const isParked = new Error('it waits in the journal for its turn');

/** The turn of a message. Once it has come, it keeps its places until it is disposed. */
export class Turn implements Disposable {
  readonly places: TurnPlaces;
  hasCome = false;
  #isOver = false;

  constructor(places: TurnPlaces) {
    this.places = places;
  }

  /** Waits for its places, first for its session. @param onCome called when it has them. @param hasSlot that of its agent is taken. */
  wait(onCome: (turn: Turn) => void, hasSlot = false): this {
    const { sessions, sessionKey, slots } = this.places;
    const come = (): void => {
      this.hasCome = true;
      if (this.#isOver) this[Symbol.dispose]();
      else onCome(this);
    };
    const enter = (): void => {
      if (this.#isOver) sessions.leave(sessionKey);
      else slots?.next(come);
    };
    sessions.enter(sessionKey, slots === undefined || hasSlot ? come : enter);
    return this;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    if (!this.hasCome) return; // it gives its places back when it has them
    this.places.slots?.give();
    this.places.sessions.leave(this.places.sessionKey);
  }
}

/**
 * The turns of messages that wait for their session or their agent in the journal alone: few such messages wait in memory. Each is
 * claimed again when it has its places, in the order of all that wait (durability §8.8).
 */
export class ParkedTurns {
  /** By the lanes of their messages. */
  readonly #turns = new Map<string, Turn>();
  /** Messages that wait in memory. */
  waiting = 0;

  /** Is told that the next message of a conversation may be claimed: its turn has come. */
  onTurn: ((lane: string) => void) | undefined;

  /** Messages that wait in the journal, or are being claimed. */
  get size(): number {
    return this.#turns.size;
  }

  /** Has the next message of a conversation wait. */
  park(lane: string, places: TurnPlaces): void {
    const turn = new Turn(places);
    this.#turns.set(lane, turn);
    turn.wait(() => this.onTurn?.(lane));
  }

  /** The turn of a message that was parked in a lane, or that need not wait. A parked one for other places is given up. */
  next(lane: string | undefined, places: TurnPlaces): Turn | undefined {
    const { sessions, sessionKey, slots } = places;
    const parked = this.#turns.get(lane ?? '');
    this.#turns.delete(lane ?? '');
    const of = parked?.places;
    if (parked?.hasCome === true && of?.sessionKey === sessionKey && of.slots === slots)
      return parked;
    parked?.[Symbol.dispose]();
    const isNext = sessions.isIdle(sessionKey) && (slots?.tryTake() ?? true);
    return isNext ? new Turn(places).wait(() => undefined, true) : undefined;
  }

  /** The turn of a lane has come: its message has its places. */
  hasCome(lane: string): boolean {
    return this.#turns.get(lane)?.hasCome === true;
  }

  /** Gives up the turns that have come: those whose messages have begun may need their places. They wait again. */
  giveUpCome(): void {
    for (const [lane, turn] of [...this.#turns]) if (turn.hasCome) this.giveUp(lane, turn);
  }

  /** The turn that a lane has. It is given up when it is disposed, if the lane has it still. */
  of(lane: string): Disposable | undefined {
    const turn = this.#turns.get(lane);
    return turn && { [Symbol.dispose]: () => this.giveUp(lane, turn) };
  }

  /** Gives up the turn that a lane has. */
  giveUp(lane: string, turn = this.#turns.get(lane)): void {
    if (this.#turns.get(lane) === turn && this.#turns.delete(lane)) turn?.[Symbol.dispose]();
  }
}
