import type { Place } from '../lanes/slots.js';
import type { AgentDefinition } from '../parts/options.js';
import type { FencedParts } from '../parts/parts.js';
import { sessionTurn } from './session-turn.js';

/**
 * Runs something in the lane of a session and, for a turn, as one of those that its agent may run at once. A message that
 * has to wait for either gives its place in the host back meanwhile, so one session or one agent never fills them all
 * (durability §8.6). So does one that waits for a person, and no reload waits for it then.
 *
 * @param of.eventId the message that it belongs to.
 * @param of.agent the agent whose turn it is; nothing if the work is no turn.
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
  const isNext = sessionLanes.isIdle(sessionKey) && (slots?.tryTake() ?? true);
  if (!isNext) place.leave();
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
  return await sessionLanes.run(sessionKey, async () => {
    if (!isNext) await slots?.take();
    try {
      if (!isNext) await place.enter();
      parts.timeline.record(() => ({
        ...{ kind: 'lane', of: 'session', id: eventId, correlationId: eventId },
        ...{ lane: sessionKey, waitedMs: clock.monotonicMs() - sinceMs },
      }));
      return await run(held);
    } finally {
      slots?.give();
    }
  });
}
