import { nodeSignal } from '@sluice/sdk/stream/internal';
import { isParked, type Turn } from '../lanes/parked-turns.js';
import type { Place } from '../lanes/slots.js';
import type { AgentDefinition } from '../parts/options.js';
import type { FencedParts } from '../parts/parts.js';
import { reportLane } from '../timeline/report-update.js';

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
  const { agentSlots, gate, clock, backlog } = parts;
  const { eventId, sessionKey, agent } = of;
  const sinceMs = clock.monotonicMs();
  const slots = agent && agentSlots(agent);
  const { shared: turns } = backlog.turns;
  const { fence, signal } = parts;
  const shared = turns && { turns, eventId, fence, signal };
  const places = { sessionKey, shared, slots };
  const turn = backlog.turns.next(place.lane, places);
  const taken = turn.hasCome || turn.takeNow();
  const isNow = typeof taken === 'boolean' ? taken : await taken;
  if (!isNow) await waited(parts, place, turn);
  using _turn = turn;
  turn.suspension = parts.suspension;
  if (!isNow) await place.enter();
  if (!turn.has(places)) {
    place.defer?.(); // it was stopped before its turn had come
    nodeSignal(parts.signal).throwIfAborted();
  }
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
  reportLane(parts, 'session', eventId, sessionKey, () => clock.monotonicMs() - sinceMs);
  return await run(held);
}

/** Waits for a turn without a place in the host. @throws `isParked` if the message is left in the journal until then, or as the journal. */
async function waited(
  { backlog, running, counts }: FencedParts,
  place: Place,
  turn: Turn,
): Promise<void> {
  const { turns, blocked } = backlog;
  const { lane } = place;
  if (lane !== undefined && turns.waiting >= running.limit) {
    blocked.set(lane, 'parked'); // before its turn can come
    turns.park(lane, turn);
    place.defer?.(isParked);
    counts.parked++;
    throw isParked;
  }
  turns.waiting++;
  place.leave();
  const failure = await new Promise<unknown>((resolve) => turn.wait(resolve));
  turns.waiting--;
  if (failure === undefined) return;
  turn[Symbol.dispose]();
  throw failure;
}
