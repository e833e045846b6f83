import { systemClock } from '../../kernel/index.js';
import { leavable, type SessionEvent, type SubagentFact } from '../../stream/index.js';
import { traceEvent } from '../../stream/internal.js';
import { type Arrival, Arrivals } from '../frames/arrivals.js';
import { type CsdkFrame, isFields, textField } from '../frames/frame.js';
import { refuse } from '../ordering/assert-ordering.js';
import { orderingChecker } from '../ordering/ordering-checker.js';
import type { NormalizeOptions } from '../session/normalize-options.js';
import { Diagnostics } from '../session/session-diagnostic.js';
import { SessionNormalizer } from '../session/session-normalizer.js';
import { factsOfCallback, factsOfFrame } from '../subagents/subagent-facts.js';

/** How long `end: 'idle'` waits for another turn, unless given. */
const defaultIdleTimeoutMs = 60_000;

/**
 * Turns the frames of one CSDK run into session events: text and thinking, complete messages, tool calls with
 * their progress and results, compactions, and the end. Each visible text is emitted once, with partial messages or
 * without. The rules are in spec/csdk-normalization.md.
 *
 * The frames' source is read one frame at a time, as the events are wanted. It never throws what the source throws:
 * that is an `agent_end` with an error. When it ends, or its reader stops, both sources are told to let go.
 *
 * @throws `session-out-of-order` where `check` is on and an event breaks the order.
 * @example
 * for await (const event of normalizeSession(query({ prompt }), { signal }))
 *   if (event.type === 'message_end') console.log(event.message);
 */
export function normalizeSession(
  messages: AsyncIterable<CsdkFrame> | Iterable<CsdkFrame>,
  options: NormalizeOptions = {},
): AsyncGenerator<SessionEvent> {
  const { callbacks, signal, clock = systemClock } = options;
  const arrivals = new Arrivals({ messages, callbacks, signal, clock });
  return leavable(run(arrivals, options), arrivals);
}

async function* run(arrivals: Arrivals, options: NormalizeOptions): AsyncGenerator<SessionEvent> {
  const { signal, logger, runId } = options;
  const diagnostics = new Diagnostics(options.onDiagnostic);
  const events: SessionEvent[] = [];
  const session = new SessionNormalizer(
    options,
    (event) => events.push(event),
    (fact) => diagnostics.tell(fact),
    (fact) => (events.length === 0 ? options.onSubagent?.(fact) : after.push(fact)),
  );
  const after: SubagentFact[] = [];
  const checker = options.check === true ? orderingChecker() : undefined;
  let { sessionId } = options;
  let wait = 0;
  try {
    for (;;) {
      for (const event of events) {
        if (logger !== undefined) traceEvent(logger, { runId, sessionId }, event);
        if (checker !== undefined) refuse(checker.take(event));
        yield event;
      }
      events.length = 0;
      if (session.ended) {
        if (checker !== undefined) refuse(checker.finish());
        return;
      }
      for (const fact of after.splice(0)) options.onSubagent?.(fact);
      if (session.wait !== wait) {
        wait = session.wait;
        arrivals.wakeAfter(
          wait === 0 ? undefined : (options.idleTimeoutMs ?? defaultIdleTimeoutMs),
        );
      }
      const next = arrivals.next();
      const arrival = next instanceof Promise ? await next : next;
      if (arrival.kind === 'closed') return;
      if (arrival.kind === 'frame' && logger !== undefined)
        sessionId = options.sessionId ?? idOf(arrival.frame) ?? sessionId;
      if (options.onSubagent !== undefined)
        for (const fact of factsOf(arrival)) options.onSubagent(fact);
      deal(session, arrival, signal, diagnostics);
    }
  } finally {
    const failed = await arrivals.release();
    if (failed !== undefined) diagnostics.tell({ kind: 'source_failed', error: failed.error });
  }
}

/** The facts of subagents in an arrival: they are told before the events that the arrival becomes. */
function factsOf(arrival: Arrival): readonly SubagentFact[] {
  if (arrival.kind === 'callback') return factsOfCallback(arrival.callback);
  return arrival.kind === 'frame' && isFields(arrival.frame) ? factsOfFrame(arrival.frame) : [];
}

function deal(
  session: SessionNormalizer,
  arrival: Arrival,
  signal: AbortSignal | undefined,
  diagnostics: Diagnostics,
): void {
  switch (arrival.kind) {
    case 'frame':
      session.take(arrival.frame);
      return;
    case 'callback':
      session.callback(arrival.callback);
      return;
    case 'ended':
      session.sourceEnded();
      return;
    case 'threw': // the SDK's AbortError is called "Error": the signal tells
      if (signal?.aborted === true || isAbortError(arrival.error)) session.abort();
      else session.sourceThrew(arrival.error);
      return;
    case 'callbacksFailed':
      diagnostics.tell({ kind: 'callbacks_failed', error: arrival.error });
      return;
    case 'aborted':
      session.abort();
      return;
    case 'timedOut':
      session.idleTimedOut();
      return;
    case 'closed': // nobody is there to be told
  }
}

function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function idOf(frame: CsdkFrame): string | undefined {
  return isFields(frame) ? textField(frame, 'session_id') : undefined;
}
