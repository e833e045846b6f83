import { runsAtOnce } from '../ingress/decode-update.js';
import { noPlace, type Place, placeOf } from '../lanes/slots.js';
import type { HostParts } from '../parts/parts.js';

/** An update whose lane is held for it. */
export interface Held {
  readonly eventId: string;
  readonly lane: string;
  readonly slot: number;
}

/** Work that is done in a place. */
export type InPlace = (place: Place) => Promise<void>;

/** Takes a place behind the gate, unless the jobs of a lane take none. */
export async function takePlace(
  parts: HostParts,
  { eventId, lane }: Held,
  inPlace: InPlace,
): Promise<void> {
  const { backlog, running, gate, room } = parts;
  const isAtOnce = runsAtOnce(lane);
  const place = isAtOnce ? noPlace : placeOf(running);
  backlog.held++;
  room.enter(eventId, lane);
  try {
    if (!gate.isOpen) backlog.turns.giveUp(lane); // one that has begun may need that place to come to its end
    if (!isAtOnce) await running.take();
    if (!gate.isOpen) backlog.turns.giveUp(lane);
    await gate.enterWith(place);
    try {
      await inPlace(place);
    } finally {
      gate.leave();
      if (!isAtOnce) running.give();
    }
  } finally {
    backlog.held--;
  }
}

/** Takes a place for an update, if that waits for nothing. `leavePlace` follows. */
export function takePlaceNow({ backlog, running, gate }: HostParts): boolean {
  if (!gate.isOpen || !running.takeNow()) return false;
  backlog.held++;
  return gate.enterNow();
}

/** Gives back what `takePlaceNow` took. */
export function leavePlace({ backlog, running, gate }: HostParts): void {
  backlog.held--;
  gate.leave();
  running.give();
}

/** A place whose message is told to be no suspect any more when it waits for a person. */
export function releasing(place: Place, release: () => void): Place {
  const leave = (isForPerson?: boolean): void => {
    place.leave(isForPerson);
    if (isForPerson === true) release();
  };
  return { leave, enter: () => place.enter() };
}
