import { isParked, Turn, type TurnPlaces } from '../lanes/parked-turns.js';
import type { Place } from '../lanes/slots.js';
import type { AgentDefinition } from '../parts/options.js';
import type { FencedParts } from '../parts/parts.js';
import { sessionTurn } from './session-turn.js';

/**
 * Runs something in the lane of a session and, for a turn, as one of those that its agent may run at once. A message that
 * has to wait for either gives its place in the host back meanwhile, so one session or one agent never fills them all
 * (durability §8.6). If many wait, it is left in the journal until then (durability §8.8). So does one that waits for a person give its
 * place back, and no reload waits for it then.
 *
 * @param of.eventId the message that it belongs to.
 * @param of.agent the agent whose turn it is; nothing if the work is no turn.
 * @throws `isParked` if it is left in the journal.
 */
export async function inSession<T>(
  parts: FencedParts,
  place: Place,
  of: {
    readonly eventId: string;
    readonly sessionKey: string;
    readonly agent?: AgentDefinition;
  },
  run: (place: Place) => Promise<T>,
): Promise<T> {
  const { sessionLanes, agentSlots, gate, clock, journal } = parts;
  const { eventId, sessionKey, agent } = of;
  // a session of one partition has no turns at other hosts
  using _turn =
    journal.ownership.partitionCount > 1 ? await sessionTurn(parts, place, of) : undefined;
  const sinceMs = clock.monotonicMs();
  const slots = agent && agentSlots(agent);
  const places = { sessions: sessionLanes, sessionKey, slots };
  const next = parts.backlog.turns.next(place.lane, places);
  using _places = next ?? (await waited(parts, place, places));
  if (next === undefined) await place.enter();
  const held: Place = {
    leave: (isForPerson) => {
      place.leave(isForPerson);
      slots?.give();
      gate.leaveForPerson();
    },
    enter: async () => {
      await gate.enterAfterPerson(); // no slot is held while it is closed
      await slots?.retake();
      await place.enter();
    },
    defer: () => place.defer?.(),
  };
  parts.timeline.record(() => ({
    ...{ kind: 'lane', of: 'session', id: eventId, correlationId: eventId },
    ...{ lane: sessionKey, waitedMs: clock.monotonicMs() - sinceMs },
  }));
  return await run(held);
}

/** Waits for a turn without a place in the host. @throws `isParked` if the message is left in the journal until then. */
async function waited(
  { backlog, running, counts }: FencedParts,
  place: Place,
  places: TurnPlaces,
): Promise<Turn> {
  const { turns, blocked } = backlog;
  const { lane } = place;
  if (lane !== undefined && turns.waiting >= running.limit) {
    blocked.set(lane, 'parked'); // before its turn can come
    turns.park(lane, places);
    place.defer?.(isParked);
    counts.parked++;
    throw isParked;
  }
  turns.waiting++;
  place.leave();
  const turn = await new Promise<Turn>((resolve) => new Turn(places).wait(resolve));
  turns.waiting--;
  return turn;
}
