import type { InboundUpdate } from '@sluice/sdk/channel';
import { getOrMake } from 'sluice-kernel/internal';
import type { RunningAccount } from '../provided/accounts.js';

/** Full conversations that are remembered, at most. */
const mostTold = 10_000;

/** The policy for a conversation, or a host, that is full (durability §8.2). */
export type WhenFull = 'park' | 'refuse' | 'drop' | 'wait';

/** The rules of the room that a host has. */
interface RoomRules {
  /** Updates of one lane from which on it is full. */
  readonly laneCapacity: number;
  /** Updates of all lanes together from which on each is full. */
  readonly capacity: number;
  /** The policy for all channels; absent if each has its own. */
  readonly whenFull?: WhenFull | undefined;
  /** The journal keeps no updates for a later host: they wait here. */
  readonly holdsUpdates: boolean;
}

/** An update that the journal does not have whole. */
export interface HeldUpdate {
  readonly account: RunningAccount;
  readonly update: InboundUpdate;
}

interface Waiting {
  readonly lane: string;
  readonly held: HeldUpdate | undefined;
}

interface LaneRoom {
  updates: number;
  readonly waitingForRoom: (() => void)[];
}

/** The updates that take room in this host: those that run, and those that wait and are not parked in the journal alone. */
export class Room {
  readonly rules: RoomRules;
  readonly #updates = new Map<string, Waiting>();
  readonly #lanes = new Map<string, LaneRoom>();
  /** The lanes of which somebody was told that they are full. */
  readonly #told = new Set<string>();
  /** Somebody was told that all lanes together are full. */
  #isAllTold = false;
  /** In the order of their coming: none is passed over for ever. */
  readonly #waitingForAnyRoom: (() => void)[] = [];

  constructor(rules: RoomRules) {
    this.rules = rules;
  }

  /** How many updates take room. */
  get size(): number {
    return this.#updates.size;
  }

  /** Returns the policy for the updates of an account. */
  policyOf({ channel }: Pick<RunningAccount, 'channel'>): WhenFull {
    const { whenFull, holdsUpdates } = this.rules;
    return (
      whenFull ??
      (channel.capabilities.canWait === true ? 'wait' : holdsUpdates ? 'refuse' : 'park')
    );
  }

  has(eventId: string): boolean {
    return this.#updates.has(eventId);
  }

  /** Gives an update room, unless it has it. @param held itself, if the journal does not have its body. */
  enter(eventId: string, lane: string, held?: HeldUpdate): void {
    if (this.#updates.has(eventId)) return;
    this.#updates.set(eventId, { lane, held });
    getOrMake(this.#lanes, lane, () => ({ updates: 0, waitingForRoom: [] })).updates++;
  }

  /** The update, if the journal does not have its body. */
  heldOf(eventId: string): HeldUpdate | undefined {
    return this.#updates.get(eventId)?.held;
  }

  /** An update has ended, or is in the journal alone. */
  leave(eventId: string): void {
    const { lane: key = '' } = this.#updates.get(eventId) ?? {};
    const lane = this.#lanes.get(key);
    if (!this.#updates.delete(eventId) || lane === undefined) return;
    const { laneCapacity } = this.rules;
    if (--lane.updates === 0) this.#lanes.delete(key);
    if (lane.updates * 2 <= laneCapacity) this.#told.delete(key);
    if (this.#isAllTold && this.#isHalfFree) {
      this.#isAllTold = false;
      for (const one of this.#told)
        if (this.#inLane(one) * 2 <= laneCapacity) this.#told.delete(one);
    }
    this.#notifyRoom(lane);
    if (lane.updates === 0) for (const resolve of lane.waitingForRoom.splice(0)) resolve();
  }

  /** Lets all go that wait in the journal and are not in hand: another host may have handled them. */
  keepOnly(active: ReadonlySet<string>): void {
    for (const [eventId, { held }] of this.#updates)
      if (held === undefined && !active.has(eventId)) this.leave(eventId);
  }

  /** Returns whether a lane, or all of them together, has as many updates as it may. */
  isFull(lane: string): boolean {
    return this.#areFull || this.#inLane(lane) >= this.rules.laneCapacity;
  }

  /** Returns whether somebody is to hear that a lane is full: once, until half of it is free again. */
  isToNotify(lane: string): boolean {
    if (this.#told.has(lane)) return false;
    const [oldest = lane] = this.#told;
    if (this.#told.size >= mostTold) this.#told.delete(oldest);
    this.#told.add(lane);
    this.#isAllTold ||= this.#areFull;
    return true;
  }

  /** Notes how many updates of a lane are open in a journal that knows all of them. */
  noteOpen(lane: string, open: number): void {
    if (open * 2 <= this.rules.laneCapacity) this.#told.delete(lane);
  }

  /** Resolves when a lane, and all of them together, have room for another update. */
  async forLane(key: string): Promise<void> {
    while (this.isFull(key)) {
      const lane = this.#lanes.get(key);
      const isLaneFull = this.#inLane(key) >= this.rules.laneCapacity;
      await new Promise<void>((resolve) => {
        if (lane !== undefined && isLaneFull) lane.waitingForRoom.push(resolve);
        else this.#waitingForAnyRoom.push(resolve);
      });
      // it may not use the room: in the next turn of the event loop what is left of it is another's
      setImmediate(() => this.#notifyRoom(lane));
    }
  }

  get #areFull(): boolean {
    return this.size >= this.rules.capacity;
  }

  get #isHalfFree(): boolean {
    return this.size * 2 <= this.rules.capacity;
  }

  #inLane(lane: string): number {
    return this.#lanes.get(lane)?.updates ?? 0;
  }

  /** Tells one who waits for room among all, and one who waits for room in a lane, if there is any. */
  #notifyRoom(lane: LaneRoom | undefined): void {
    if (!this.#areFull) this.#waitingForAnyRoom.shift()?.();
    if (lane !== undefined && lane.updates < this.rules.laneCapacity)
      lane.waitingForRoom.shift()?.();
  }
}
