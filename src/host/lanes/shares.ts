import { getOrMake } from 'sluice-kernel/internal';
import { noPlace, type Place } from './slots.js';

/** Returns how many of all places one agent, or one owner of routes, may have beside others: the rest is for those (durability §8.9). */
export function shareOf(places: number): number {
  return Math.ceil((places * 3) / 4);
}

/** The messages of one sender. */
interface Sender {
  /** How many are claimed. */
  messages: number;
  /** How many of them have a place. */
  taken: number;
  /** The conversations whose next message waits in the journal alone. */
  readonly parked: Set<string>;
}

/**
 * The shares of senders in the places of a host: whatever one of them does, others find a place. A sender without messages takes no
 * room.
 *
 * @example
 * using place = new Shares(64).placeOf('telegram:42', slot);
 * if (place?.takeNow(false) === false) shares.park('telegram:42', lane);
 */
export class Shares {
  readonly #limit: number;
  readonly #senders = new Map<string, Sender>();

  /** @param places those of the host. */
  constructor(places: number) {
    this.#limit = Math.ceil(places / 2); // less than the share of an agent: others have turns of that agent, too
  }

  /** Is told that the next message of a conversation may be claimed, which was parked. */
  onRoom: ((lane: string) => void) | undefined;

  /** Returns whether a sender has less than his share. */
  hasRoom(sender: string | undefined): boolean {
    return sender === undefined || (this.#senders.get(sender)?.taken ?? 0) < this.#limit;
  }

  /** Makes the place of a message, which counts in the share of its sender. Nothing if no sender or no place counts. */
  placeOf(sender: string | undefined, place: Place): SharedPlace | undefined {
    if (sender === undefined || place === noPlace) return undefined;
    const of = getOrMake(this.#senders, sender, () => ({
      ...{ messages: 0, taken: 0, parked: new Set<string>() },
    }));
    of.messages++;
    return new SharedPlace(place, of, this.#limit, () => this.#fill(sender, of));
  }

  /** Leaves the next message of a conversation in the journal, until its sender has a place. */
  park(sender: string, lane: string): void {
    this.#senders.get(sender)?.parked.add(lane);
  }

  /** Has messages claimed for which there is room: a place may have been meant for one that was another's. */
  wake(): void {
    for (const [sender, of] of this.#senders) this.#fill(sender, of);
  }

  #fill(sender: string, of: Sender): void {
    const { parked } = of;
    let room = this.#limit - of.taken;
    for (const lane of parked) {
      if (room-- <= 0) break;
      parked.delete(lane);
      this.onRoom?.(lane);
    }
    if (of.messages === 0 && parked.size === 0) this.#senders.delete(sender);
  }
}

/** The place of a message that counts in the share of its sender. */
class SharedPlace implements Place, Disposable {
  readonly #place: Place;
  readonly #sender: Sender;
  readonly #limit: number;
  readonly #fill: () => void;
  #isTaken = false;

  constructor(place: Place, sender: Sender, limit: number, fill: () => void) {
    this.#place = place;
    this.#sender = sender;
    this.#limit = limit;
    this.#fill = fill;
  }

  /** Takes a place of the share, if that waits for nothing. @param isOwed the message has begun, and takes one in any case. */
  takeNow(isOwed: boolean): boolean {
    this.#isTaken = isOwed || this.#sender.taken < this.#limit;
    if (this.#isTaken) this.#sender.taken++;
    return this.#isTaken;
  }

  leave(isForPerson?: boolean): void {
    this.#place.leave(isForPerson);
    this.#give();
  }

  /** A message that has begun does not wait for the share: it may be what the others wait for, and holds what they need. */
  enter(): Promise<void> {
    this.takeNow(true);
    return this.#place.enter();
  }

  [Symbol.dispose](): void {
    this.#sender.messages--;
    this.#give();
  }

  #give(): void {
    if (this.#isTaken) this.#sender.taken--;
    this.#isTaken = false;
    this.#fill();
  }
}
