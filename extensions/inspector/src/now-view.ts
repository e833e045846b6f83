import type { Clock } from 'sluice';
import { readTimeline } from 'sluice/host';
import { budgetView } from './budget-view.js';
import type { Figures } from './figures.js';
import { laneWords } from './message.js';
import type { InspectorSource } from './source.js';

const jobsAtMost = 500;
/** Messages under way whose sessions are looked up. */
const lookedUpAtMost = 50;

/** Tells the last hour in figures, the budget of today, and what runs and waits, lane by lane. */
export async function nowView(
  { reader, host, approvals }: InspectorSource,
  figures: Figures,
  { clock }: { readonly clock: Clock },
) {
  const open = await reader.updates({
    ...{ states: ['accepted', 'handling'], withoutBody: true, limit: jobsAtMost },
  });
  const running = host?.kernel.running() ?? [];
  const begun = open.filter(({ state }) => state === 'handling').slice(0, lookedUpAtMost);
  const sessions = new Map<string, string>();
  for (const { eventId: correlationId } of begun) {
    const turns = await readTimeline(reader, { correlationId, kinds: ['lane'], limit: 10 });
    for (const turn of turns)
      if (turn.kind === 'lane' && turn.of === 'session') sessions.set(correlationId, turn.lane);
  }
  const pending = (await approvals?.list())?.filter(isPending) ?? [];
  const asked = new Set(pending.map((row) => Object(row).correlationId));
  const jobs = open.map(({ eventId, lane = '', state, acceptedAtMs }) => ({
    ...{ eventId, lane, state, forMs: Math.max(0, clock.now() - acceptedAtMs) },
    /** It waits for a human. */
    isAsked: asked.has(eventId),
    sessionKey: sessions.get(eventId),
    handlers: running.filter(({ correlationId }) => correlationId === eventId),
  }));
  return {
    state: host?.health().state,
    lanes: [...new Set(jobs.map(({ lane }) => lane))].map((lane) => ({
      lane: laneWords(lane),
      jobs: jobs.filter((one) => one.lane === lane),
    })),
    /** Handlers that belong to no message of a lane, or that were given up and run on. */
    others: running.filter(
      ({ correlationId }) => !open.some((one) => one.eventId === correlationId),
    ),
    figures: figures.last(clock.now()),
    dead: (await reader.counts()).updates.dead,
    questions: pending.length,
    budget: reader.keyValues && (await budgetView(reader.keyValues, clock.now())),
  };
}

function isPending(approval: object): boolean {
  return 'state' in approval && approval.state === 'pending';
}
