import { isDeepStrictEqual } from 'node:util';
import * as acp from '@agentclientprotocol/sdk';
import type { ApprovalQuestion } from 'sluice';
import type { AgentRequest, SessionEvent } from 'sluice/stream';
import type { ProgramSettings } from './config.js';
import { heard, restTimes, tooLate } from './late.js';
import type { KnownSession, Program, Services, SessionListener } from './program.js';
import { TurnEvents } from './turn-events.js';

/** The parts of one turn. */
interface Turn extends Services {
  readonly program: Program;
  readonly session: KnownSession;
  readonly request: AgentRequest;
  /** The prompt, with what the program has not heard. */
  readonly text: string;
  readonly settings: ProgramSettings;
  readonly provider: string;
  /** Aborted when the turn is stopped, or its reader has left. */
  readonly stopped: AbortSignal;
}

/** Milliseconds that a program has for the end of a turn that is stopped, if the turn does not say. */
const usualGraceMs = 1_000;
/** Events of a program that may wait for the handlers of the host; at more its turn is stopped. */
const maxWaiting = 10_000;

/** Asks a program the prompt of a turn. The last item is its failure, if it fails. Whoever leaves waits until the turn has ended. */
export function askPrompt(turn: Turn): ReadableStream<SessionEvent | Error> {
  const left = new AbortController();
  const flooded = new AbortController();
  let ended: Promise<void>;
  return new ReadableStream({
    start(queue) {
      const emit = (item: SessionEvent | Error): void => {
        if (left.signal.aborted) return;
        queue.enqueue(item);
        if ((queue.desiredSize ?? 0) < -maxWaiting) flooded.abort();
      };
      const stopped = AbortSignal.any([turn.stopped, left.signal, flooded.signal]);
      ended = runPrompt({ ...turn, stopped }, emit).then(
        () => void (left.signal.aborted || queue.close()),
      );
    },
    cancel() {
      left.abort();
      return ended;
    },
  });
}

async function runPrompt(turn: Turn, emit: (item: SessionEvent | Error) => void): Promise<void> {
  const { program, session, request, settings, clock, log } = turn;
  const { id: sessionId } = session;
  /** Aborted when no question of the turn waits for its answer any more. */
  const over = new AbortController();
  let failure: Error | undefined;
  let timer: ReturnType<typeof clock.setTimeout> | undefined;
  const stop = (): void => {
    if (over.signal.aborted) return;
    over.abort();
    const { graceMs = usualGraceMs } = request;
    const why = 'it did not end a turn that was stopped';
    timer = clock.setTimeout(() => void program.end(why), graceMs * 0.75);
    program
      .ask((agent) => agent.notify(acp.methods.agent.session.cancel, { sessionId }))
      .catch(() => undefined); // the prompt fails of the same
  };
  const events = new TurnEvents({
    by: { provider: turn.provider, model: request.model },
    ...{ session, emit, now: () => clock.now() },
    onUngated: (toolName, wasRefused) => {
      const problem = `the program ran "${toolName}", ${wasRefused ? 'which was refused' : 'and has not asked'}`;
      const { runId } = request;
      if (wasRefused) log.error('the program ran a tool that was refused', { toolName, runId });
      if (settings.unasked === 'report') return;
      failure ??= new Error(problem);
      stop();
    },
  });
  const permit: SessionListener['permit'] = async ({ toolCall, options }, signal) => {
    const { toolCallId, toolName, args, about } = events.asked(toolCall);
    const asking = AbortSignal.any([signal, over.signal]);
    if (asking.aborted) return { outcome: 'cancelled' };
    const question =
      settings.questions === 'all' ? { question: questionOf(toolName, about, options) } : {};
    const decision = await request.gate({ toolCallId, toolName, args, ...question }, asking);
    if (asking.aborted) return { outcome: 'cancelled' };
    const { refusal, outcome } = answerTo(options, decision, args);
    if (refusal !== undefined) events.refuse(toolCallId, refusal);
    return outcome;
  };

  const hearing = heard((update) => events.take(update));
  program.listeners.set(sessionId, { take: hearing.take, permit });
  turn.stopped.addEventListener('abort', stop);
  if (turn.stopped.aborted) stop();
  try {
    const response = await program.ask((agent) =>
      agent.request(acp.methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: 'text', text: turn.text }],
      }),
    );
    await hearing.out(settings.lateMs, clock, over.signal);
    if (failure === undefined) events.end(response.stopReason, over.signal.aborted);
  } catch (error) {
    failure ??= error instanceof Error ? error : new Error(String(error));
  } finally {
    over.abort();
    turn.stopped.removeEventListener('abort', stop);
    if (timer !== undefined) clock.clearTimeout(timer);
    session.restsUntilMs = clock.monotonicMs() + restTimes * settings.lateMs;
    program.listeners.set(sessionId, tooLate(log, request.runId));
  }
  if (failure !== undefined) emit(failure);
}

/**
 * The answer to a question about a call. "Always" is never said to the program: it would not ask again, and nobody would judge the
 * next call.
 */
function answerTo(
  options: readonly acp.PermissionOption[],
  decision: Awaited<ReturnType<AgentRequest['gate']>>,
  args: object,
): { readonly refusal?: string; readonly outcome: acp.RequestPermissionOutcome } {
  const pick = (...kinds: acp.PermissionOptionKind[]): acp.RequestPermissionOutcome | undefined => {
    const option = kinds.flatMap((kind) => options.filter((one) => one.kind === kind))[0];
    return option && { outcome: 'selected', optionId: option.optionId };
  };
  let refusal = decision.allowed ? undefined : decision.reason;
  if (decision.allowed) {
    const yes = pick('allow_once');
    const isSame = isDeepStrictEqual(decision.args, args);
    if (yes !== undefined && isSame) return { outcome: yes };
    refusal = isSame
      ? 'the program does not offer to allow this one call'
      : 'a handler has changed its arguments, and the protocol cannot tell the program so';
  }
  const outcome = pick('reject_once', 'reject_always') ?? { outcome: 'cancelled' };
  return { outcome, ...(refusal !== undefined && { refusal }) };
}

/** The question to an owner of the host. "Always" holds for this tool in this session, if the program offers it. */
function questionOf(
  toolName: string,
  { title }: Readonly<Record<string, unknown>>,
  options: readonly acp.PermissionOption[],
): ApprovalQuestion {
  const isLasting = options.some(({ kind }) => kind === 'allow_always');
  return {
    asker: { extensionId: 'acp', contributionId: 'permission' },
    title: `May ${toolName} run? The agent asks.`,
    ...(typeof title === 'string' && { text: title }),
    of: 'owner',
    scopes: isLasting ? ['session'] : [],
  };
}
