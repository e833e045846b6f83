import type { Fence } from '@sluice/journal';
import { getOrMake, type StopSignal } from 'sluice-kernel/internal';
import type { Slots } from './slots.js';
import type { Suspension } from './suspension.js';

/** A message that takes turns in its session with those of other hosts. */
export interface SharedTurn {
  readonly turns: SharedTurns;
  readonly eventId: string;
  readonly fence: Fence;
  /** Aborts when the message may not go on at this host. */
  readonly signal: StopSignal;
}

/** The turns in the sessions that hosts share, as their journal knows. */
export interface SharedTurns {
  /**
   * Tries to take a session.
   *
   * @param isFree nobody is known to have it.
   * @returns the update that goes first: its own has its turn now. Nothing if that is not known.
   */
  take(sessionKey: string, turn: SharedTurn, isFree: boolean): Promise<string | undefined>;
  /** Resolves when a session may be tried again. */
  pause(turn: SharedTurn): Promise<unknown>;
  /** Gives a session back, once. @param next has it then, if no other host waits for it. @returns whether it has. Never rejects. */
  release(sessionKey: string, turn: SharedTurn, next: SharedTurn | undefined): Promise<boolean>;
}

/** The places of a turn: its session, here and at other hosts, and one of those of its agent, if that has a limit. */
export interface TurnPlaces {
  readonly sessionKey: string;
  readonly shared: SharedTurn | undefined;
  readonly slots: Slots | undefined;
}

/** Says of a message that it is left in the journal until its turn comes. */
export const isParked = new Error('it waits in the journal for its turn');

/** The turn of a message. Once it has come, it keeps its places until it is disposed. */
export class Turn implements Disposable {
  readonly places: TurnPlaces;
  /** It waits no longer: it has its places, or may not have them any more. */
  hasCome = false;
  /** Of the message that has the turn: one that is suspended keeps its session at all other hosts. */
  suspension: Suspension | undefined;
  readonly #all: ParkedTurns;
  /** The turns of its session at this host, in their order. The first one has it. */
  readonly #queue: Turn[];
  #onCome: ((failure?: unknown) => void) | undefined;
  /** The one before it gives it its session at all hosts. */
  #handed: Promise<boolean> | undefined;
  #hasShared = false;
  #isWhole = false;
  #isOver = false;

  constructor(places: TurnPlaces, all: ParkedTurns) {
    this.places = places;
    this.#all = all;
    this.#queue = getOrMake(all.queues, places.sessionKey, () => []);
    this.#queue.push(this);
  }

  get #isFirst(): boolean {
    return this.#queue[0] === this;
  }

  /** Takes its places, if it need not wait for them. If it has to, `wait` follows: it keeps those that it has. */
  takeNow(): boolean | Promise<boolean> {
    const { sessionKey, shared } = this.places;
    if (!this.#isFirst) return false;
    if (shared === undefined) return this.#takeSlot();
    return shared.turns.take(sessionKey, shared, true).then(
      (first) => {
        this.#hasShared = first === shared.eventId;
        return this.#hasShared && this.#takeSlot();
      },
      (error: unknown) => {
        this.#leave();
        throw error;
      },
    );
  }

  #takeSlot(): boolean {
    this.#isWhole = this.hasCome = this.places.slots?.tryTake() ?? true;
    return this.#isWhole;
  }

  /** Waits for its places: for its session here, then at all hosts, and then for its agent. @param onCome hears the error of a journal. */
  wait(onCome: (failure?: unknown) => void): void {
    const { signal } = this.places.shared ?? {};
    this.#onCome = onCome;
    signal?.addEventListener('abort', this);
    if (this.#isFirst || signal?.aborted) this.goOn();
  }

  /** It may wait no longer, whoever is before it. One that asks for its session finds that out by itself. */
  handleEvent(): void {
    if (!this.#isFirst || this.#hasShared) this.goOn();
  }

  /** It is the first one of its session here, or may wait no longer. */
  goOn(): void {
    const { slots, shared } = this.places;
    if (this.hasCome) return;
    if (this.#isOver || shared?.signal.aborted) this.#come(false);
    else if (shared !== undefined && !this.#hasShared) void this.#takeShared(shared);
    else if (slots === undefined) this.#come(true);
    else slots.next(() => (this.hasCome ? slots.give() : this.#come(true)));
  }

  /** Asks until it has its session at all hosts. An update that goes first there goes first here, too. */
  async #takeShared(shared: SharedTurn): Promise<void> {
    const { sessionKey } = this.places;
    try {
      this.#hasShared = (await this.#handed) === true;
      while (!this.#hasShared && !this.#isOver && !shared.signal.aborted) {
        const first = await shared.turns.take(sessionKey, shared, false);
        this.#hasShared = first === shared.eventId;
        if (!this.#hasShared && this.#letFirst(first)) return;
        if (!this.#hasShared) await shared.turns.pause(shared);
      }
      this.goOn();
    } catch (error) {
      this.#come(false, error);
    }
  }

  /** Puts the turn of an update before it. @returns whether it waits here. */
  #letFirst(eventId: string | undefined): boolean {
    const queue = this.#queue;
    this.#handed = undefined;
    const at = queue.findIndex(({ places }) => places.shared?.eventId === eventId);
    const [turn] = at > 0 ? queue.splice(at, 1) : [];
    if (turn === undefined) return false;
    queue.unshift(turn);
    turn.goOn();
    return true;
  }

  #come(isWhole: boolean, failure?: unknown): void {
    this.hasCome = true;
    this.#isWhole = isWhole;
    if (this.#isOver) this[Symbol.dispose]();
    else this.#onCome?.(failure);
  }

  /** Returns whether it has these places. */
  has({ sessionKey, shared, slots }: TurnPlaces): boolean {
    const { places } = this;
    const isSame = places.sessionKey === sessionKey && places.slots === slots;
    const { eventId, signal } = places.shared ?? {};
    return this.#isWhole && isSame && eventId === shared?.eventId && signal === shared?.signal;
  }

  #leave(): void {
    this.places.shared?.signal.removeEventListener('abort', this);
    const at = this.#queue.indexOf(this);
    if (at >= 0) this.#queue.splice(at, 1);
    const [first] = this.#queue;
    if (first === undefined) this.#all.queues.delete(this.places.sessionKey);
    else if (at === 0) this.#all.goOn(first);
  }

  [Symbol.dispose](): void {
    const { sessionKey, shared, slots } = this.places;
    this.#isOver = true;
    if (!this.hasCome && this.#isFirst) return; // it gives its places back when it has them
    if (this.#isWhole) slots?.give();
    const isKept = this.suspension?.isSuspended === true;
    if (shared !== undefined && this.#hasShared && !isKept) {
      const next = this.#queue[1];
      const handed = shared.turns.release(sessionKey, shared, next?.places.shared);
      if (next !== undefined) next.#handed = handed;
    }
    this.#leave();
  }
}

/**
 * The turns of messages that wait for their session or their agent in the journal alone: few such messages wait in memory. Each is
 * claimed again when it has its places, in the order of all that wait (durability §8.8).
 */
export class ParkedTurns {
  /** Those of each session, parked or not. */
  readonly queues = new Map<string, Turn[]>();
  /** By the lanes of their messages. */
  readonly #parked = new Map<string, Turn>();
  /** Those that go on now. */
  readonly #goingOn: Turn[] = [];
  /** Messages that wait in memory. */
  waiting = 0;

  /** Is told that the next message of a conversation may be claimed: its turn has come, or a session waits for it. */
  onTurn: ((lane: string) => void) | undefined;

  /** Present if other hosts may have turns in the sessions of this one. */
  shared: SharedTurns | undefined;

  /** Messages that wait in the journal, or are being claimed. */
  get size(): number {
    return this.#parked.size;
  }

  /** Has a turn go on that is first now, after those that do so: thousands that are given up at once do not fill the stack. */
  goOn(turn: Turn): void {
    if (this.#goingOn.push(turn) > 1) return;
    for (const one of this.#goingOn) one.goOn();
    this.#goingOn.length = 0;
  }

  /** Has the next message of a conversation wait. */
  park(lane: string, turn: Turn): void {
    this.#parked.set(lane, turn);
    turn.wait(() => this.onTurn?.(lane));
  }

  /** The turn of a message: the one that was parked in its lane, if that has these places, or else a new one. */
  next(lane: string | undefined, places: TurnPlaces): Turn {
    const parked = this.#parked.get(lane ?? '');
    this.#parked.delete(lane ?? '');
    if (parked?.has(places) === true) return parked;
    parked?.[Symbol.dispose]();
    return new Turn(places, this);
  }

  /** A session waits for a message of a lane: it is claimed, unless it waits here for another turn of its own, or its lane is blocked. */
  want(lane: string, eventId: string, isBlocked: boolean): void {
    const parked = this.#parked.get(lane)?.places.shared;
    if (parked === undefined ? !isBlocked : parked.eventId !== eventId) this.onTurn?.(lane);
  }

  /** The turn of a lane has come: its message has its places. */
  hasCome(lane: string): boolean {
    return this.#parked.get(lane)?.hasCome === true;
  }

  /** Gives up the turns that have come: those whose messages have begun may need their places. They wait again. */
  giveUpCome(): void {
    for (const [lane, turn] of [...this.#parked]) if (turn.hasCome) this.giveUp(lane, turn);
  }

  /**
   * Gives up the turns that are parked for the session of a lane, and that of the lane last: so the session is given back once.
   *
   * @returns their lanes.
   */
  giveUpSession(lane: string): readonly string[] {
    const key = this.#parked.get(lane)?.places.sessionKey;
    const others = [...this.#parked].flatMap(([one, { places }]) =>
      places.sessionKey === key && one !== lane ? one : [],
    );
    const lanes = [...others.reverse(), lane];
    for (const one of lanes) this.giveUp(one);
    return lanes;
  }

  /** The turn that a lane has. It is given up when it is disposed, if the lane has it still. */
  of(lane: string): Disposable | undefined {
    const turn = this.#parked.get(lane);
    return turn && { [Symbol.dispose]: () => this.giveUp(lane, turn) };
  }

  /** Gives up the turn that a lane has. */
  giveUp(lane: string, turn = this.#parked.get(lane)): void {
    if (this.#parked.get(lane) === turn && this.#parked.delete(lane)) turn?.[Symbol.dispose]();
  }
}
