import type { SessionUsage, TranscriptEntry } from '@sluice/sdk/stream';
import { Stop, surroundingsOf } from '@sluice/sdk/stream/internal';
import { definedFields, silentLogger, systemClock } from 'sluice-kernel/internal';
import { addUsage, driveRun, RunFailure, Trail } from '../run/index.js';
import { type AttemptStart, type EndedAttempt, runAttempt } from './attempt.js';
import { Cut } from './cut-off.js';
import { nextAttempt } from './retry.js';
import { type TurnScope, turnFields } from './turn-fields.js';
import type { AgentTurnOptions, AgentTurnResult } from './turn-options.js';
import { TurnPauses } from './turn-pauses.js';

/**
 * Runs one turn of an agent through the pipeline. For its run it is the only dispatcher of `agent.*` and
 * `transcript.*`, in the order of seed 001: starting, model, prompt, llm.input, the stream with its tools, writes
 * and compactions, completed, llm.output. With `retry`, a failed attempt is made again: all of that but the model, which
 * is resolved once per run.
 *
 * Whatever happens (an error, an abort, a timeout, a stage that fails, a provider or callback that throws or hangs)
 * `agent.completed` is emitted once per attempt, after the last event of its stream, and nothing stays behind: no timer,
 * no listener, no entry in `active`. Never rejects: the result says how it went.
 *
 * @example
 * const result = await runAgentTurn({
 *   kernel, provider: echoProvider(), session, message: { text: 'Hi' }, runId,
 *   callbacks: { onPartialReply: ({ text }) => show(text), onBlockReply: ({ text }) => send(text) },
 * });
 * if (result.status === 'failed') log(result.error?.message);
 */
export async function runAgentTurn(options: AgentTurnOptions): Promise<AgentTurnResult> {
  const { kernel, after, refs, session, runId, timeoutMs, graceMs = 1_000 } = options;
  const { clock = systemClock, logger = silentLogger, pauses = new TurnPauses() } = options;
  const { agentId, sessionId, sessionKey } = session;
  using stop = new Stop(options.signal);
  const release = driveRun(kernel, runId);
  using _listed = options.active?.begin({ runId, sessionId, sessionKey }, (why) => stop.abort(why));
  using _limit = pauses.limit(clock, timeoutMs, () =>
    stop.abort(new RunFailure('timed-out', `the turn took longer than ${timeoutMs} ms`)),
  );
  using cut = new Cut(stop, clock, graceMs);
  try {
    const trail = new Trail(kernel, after, { agentId, sessionId, ...refs });
    const fields = turnFields(options);
    const kept = new Map(Object.entries(session.providerSessions ?? {}));
    const surroundings = surroundingsOf(options.message.about);
    const shared = { clock, logger, signal: stop, cut, graceMs, kept, surroundings };
    const scope = { options, trail, fields, ...shared };
    const startedAtMs = clock.now();
    const ended = await attemptAll(scope);
    const durationMs = Math.max(0, clock.now() - startedAtMs);
    return { providerSessions: Object.fromEntries(kept), ...resultOf(runId, ended, durationMs) };
  } finally {
    release();
  }
}

/** Makes the attempts of a turn, one after the other. There is at least one. */
async function attemptAll(scope: TurnScope): Promise<readonly [EndedAttempt, ...EndedAttempt[]]> {
  const written: TranscriptEntry[] = [...(scope.options.session.begun ?? [])];
  const attempt = async (start: Omit<AttemptStart, 'written'>): Promise<EndedAttempt> => {
    const ended = await runAttempt(scope, { written: [...written], ...start });
    written.push(...ended.report.written);
    return ended;
  };
  const first = await attempt({ attempt: 1 });
  const all: [EndedAttempt, ...EndedAttempt[]] = [first];
  const { choice: resolved } = first;
  if (resolved === undefined) return all;
  for (;;) {
    const attempts = all.map(({ report }) => report);
    const next = await nextAttempt(scope, resolved, attempts);
    if (next === undefined) return all;
    all.push(await attempt({ attempt: attempts.length + 1, ...next }));
  }
}

function resultOf(
  runId: string,
  ended: readonly [EndedAttempt, ...EndedAttempt[]],
  durationMs: number,
): Omit<AgentTurnResult, 'providerSessions'> {
  const { report: last, replyTexts } = ended.at(-1) ?? ended[0];
  const attempts = ended.map(({ report }) => report);
  const { status, assistantTexts, error, last: outcome } = last;
  const usage: SessionUsage | undefined = addUsage(attempts.map((report) => report.usage));
  return {
    runId,
    status,
    assistantTexts,
    written: attempts.flatMap((report) => report.written),
    durationMs,
    last: outcome,
    attempts,
    ...definedFields({ error, usage, replyTexts }),
  };
}
