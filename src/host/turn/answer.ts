import { isDeepStrictEqual } from 'node:util';
import { type ProviderSessions, runAgentTurn, type Trail } from '@sluice/agent';
import { RunSuspended, TurnPauses } from '@sluice/agent/internal';
import type { SendReport, SessionRecord } from '@sluice/journal';
import { endOf, stopped } from '@sluice/journal/internal';
import type { TranscriptSize } from '@sluice/sdk/stream';
import { Stop } from '@sluice/sdk/stream/internal';
import { definedFields, onAbort, type Principal, type StopSignal } from 'sluice-kernel/internal';
import { askPeople } from '../egress/ask-people.js';
import type { CancelledEnding } from '../egress/cancel-reply.js';
import { addressOf, endFailed } from '../egress/reply.js';
import { PeopleWait } from '../lanes/people-wait.js';
import type { Place } from '../lanes/slots.js';
import { type AgentDefinition, usualTurnMs } from '../parts/options.js';
import type { FencedParts } from '../parts/parts.js';
import type { Route, RoutedMessage } from '../session/routing.js';
import { openSession } from '../session/sessions.js';
import { type BegunHistory, type History, partHistory } from '../transcript/history.js';
import { TurnWrites } from '../transcript/turn-writes.js';
import { replySink } from './reply-sink.js';
import { TurnReplies } from './turn-replies.js';

/**
 * Answers a routed message: its session is opened, its agent takes a turn, and what the agent says goes out while it
 * does, each message of the agent as a reply of its own. What was said before a failure goes out, too; after an abort
 * nothing more does. Runs in the lane of its session.
 *
 * @param place is left while the turn waits for a person.
 */
export async function answerMessage(
  parts: FencedParts,
  trail: Trail,
  route: Route,
  message: RoutedMessage,
  place: Place,
): Promise<CancelledEnding> {
  if (parts.signal.aborted) return stopped;
  const { agent, sessionKey, principal } = route;
  const writes = new TurnWrites(parts.store, parts.suspension);
  const at = { agentId: agent.id, sessionKey };
  const opening = await openSession(parts, trail, at, message, writes);
  if (opening.status === 'failed') {
    if (parts.signal.aborted) return stopped;
    const failure = { code: 'session', message: opening.reason } as const;
    return endFailed(parts, trail, message, failure);
  }
  const { session, begunAt } = opening;
  const { sessionId } = session;
  const turn = new Stop();
  const suspend = (cause: unknown): void => turn.abort(suspended(cause));
  using _stopped = onAbort(parts.signal, () => suspend(parts.signal.reason));
  const runId = parts.newId('run');
  using _listed = parts.turns.begin({ runId, sessionKey, sessionId }, (why) => {
    parts.suspension?.end();
    turn.abort(why);
  });
  const pauses = new TurnPauses();
  const people = new PeopleWait(place, pauses, suspend);
  const by = { agent, session, writes, begunAt, message, principal };
  return await takeTurn(parts, trail, { runId, signal: turn, pauses, people, ...by });
}

/** The reason of an abort after which the message goes on (judgement §4.33). */
function suspended(cause: unknown): RunSuspended {
  return new RunSuspended('it goes on later', { cause });
}

const notListed: Disposable = { [Symbol.dispose]: () => undefined };

interface Turn {
  readonly agent: AgentDefinition;
  readonly session: SessionRecord;
  readonly writes: TurnWrites;
  /** The size of the transcript before a turn of this message that was cut off. */
  readonly begunAt: TranscriptSize | undefined;
  readonly message: RoutedMessage;
  readonly principal: Principal | undefined;
  readonly runId: string;
  readonly signal: StopSignal;
  readonly pauses: TurnPauses;
  readonly people: PeopleWait;
}

async function takeTurn(
  parts: FencedParts,
  trail: Trail,
  { agent, session, writes, begunAt, message, principal, runId, signal, pauses, people }: Turn,
): Promise<CancelledEnding> {
  const { onEvent, about } = parts.options;
  const { timeoutMs = usualTurnMs } = agent; // a provider that hangs does not hold its conversation for ever (event-pipeline §16.13)
  const { agentId, sessionKey, sessionId } = session;
  const { context, memoryKeys, metadata, providerSessions = {} } = session;
  const refs = { metadata: { runId, session: { context, memoryKeys, metadata } } };
  const after = trail.last;
  const run = Object.freeze({ agentId, sessionKey, sessionId, runId });
  const turnPersisted = () => writes.problem();
  const history = await historyOf(parts, session, begunAt);
  const rows = () => parts.approvals.of(trail.correlationId ?? '');
  const asking = askPeople(parts, {
    people,
    address: addressOf(message),
    locale: message.sender?.locale,
    hasResult: (toolCallId) => hasResultOf(history, toolCallId),
  });
  const sink = replySink({ ...parts, turnPersisted, asking }, trail, message, run, signal);
  const { replies: shown = {} } = parts.options;
  const wording = shown.verboseLevel && { cutMark: parts.texts.to(message)('text-cut') };
  const replies = new TurnReplies({ ...shown, ...definedFields({ wording }) }, sink);
  /** The run alone is stopped when its message is suspended: a send that a channel has comes to its end. */
  const active = {
    begin: (_: unknown, stop: (why: unknown) => void) => {
      parts.suspension?.onSuspended((why) => stop(suspended(why)));
      return notListed;
    },
  };
  // one literal each, without a spread between its fields: those cost some microseconds each
  const result = await runAgentTurn({
    kernel: parts.kernel,
    provider: agent.provider,
    providers: parts.providers,
    session: {
      agentId,
      sessionKey,
      sessionId,
      context,
      memoryKeys,
      metadata,
      providerSessions,
      append: (entry) => {
        writes.check();
        return writes.add(
          parts.store.appendMessage(sessionId, entry, { fence: parts.fence, mayWait: true }),
        );
      },
      isAsked: (toolCallId) => rows().some((row) => row.toolCallId === toolCallId),
      kept: () => writes.kept(),
      ...history,
    },
    message: {
      text: promptOf(message),
      attachments: message.attachments,
      channel: message.channel,
      about: message,
      ...definedFields({ provider: message.provider }),
    },
    runId,
    refs,
    callbacks: onEvent === undefined ? replies.callbacks : { onEvent, ...replies.callbacks },
    pauses,
    approvals: asking,
    tools: (provider) =>
      parts.tools.for(provider, { agentId, sessionKey, sessionId, message, principal }),
    mustAnswer: true,
    active,
    signal,
    clock: parts.clock,
    logger: parts.logger,
    ...definedFields({
      model: agent.model,
      systemPrompt: agent.systemPrompt,
      workspaceDir: about?.workspaceDir,
      after,
      retry: agent.retry,
      timeoutMs: timeoutMs === false ? undefined : timeoutMs,
    }),
  });
  const keeping = persistProviderSessions(parts, session, result.providerSessions);
  if (keeping !== undefined && !writes.mayWait) await keeping;
  if (result.status === 'aborted') {
    reportUnpersisted(parts, writes, { sessionId, runId });
    return { ...stopped, sends: (await replies.end({ isWanted: false })).all };
  }
  trail.follow(result.last);
  trail.carry(refs);
  const { all: sends, answers } = await replies.end({ isWanted: true });
  const persisting = writes.problem(); // as a rule they are persisted, with the last send
  const unpersisted = persisting && (await persisting);
  const notWritten =
    unpersisted === undefined
      ? undefined
      : ({ code: 'not-written', message: unpersisted } as const);
  const failure = result.error ?? notWritten;
  const cancel = result.error?.cancel;
  if (failure !== undefined && cancel !== undefined) {
    parts.logger.info('a message was cancelled', { runId, detail: failure.message });
    return { status: 'cancelled', reason: failure.message, sends, cancel };
  }
  if (failure !== undefined) {
    const end = await endFailed(parts, trail, message, failure);
    return { ...end, sends: [...sends, ...end.sends] };
  }
  return { sends, ...(signal.aborted && isCutOff(answers) ? stopped : endOf(answers)) };
}

/** Returns whether an abort came when the turn had ended, and before a channel had all of it: it was not answered. */
function isCutOff(answers: readonly SendReport[]): boolean {
  return answers.some(
    ({ status, attempts, isLeft = attempts === 0 }) => status === 'failed' && isLeft,
  );
}

/** Waits for the writes of a turn that was stopped, and logs if one of them fails. */
function reportUnpersisted(
  { suspension, logger }: FencedParts,
  writes: TurnWrites,
  about: Pick<Turn, 'runId'> & Pick<SessionRecord, 'sessionId'>,
): void {
  void writes.kept().catch((error: unknown) => {
    if (suspension?.isSuspended) return; // it is taken again
    logger.error('a turn that was stopped was not persisted whole', { ...about, error });
  });
}

function historyOf(
  { store, histories }: FencedParts,
  { sessionId, lastTurn }: SessionRecord,
  begunAt: TranscriptSize | undefined,
): Promise<History | BegunHistory> {
  if (begunAt === undefined && lastTurn !== undefined)
    return histories.read(sessionId, lastTurn.before); // the size before it is that of now
  const reading = store.transcriptSize(sessionId).then((size) => histories.read(sessionId, size));
  if (begunAt === undefined) return reading;
  return reading.then((read) => partHistory(store, sessionId, read, begunAt));
}

/** Returns whether a turn that was cut off has the result of a tool call. */
function hasResultOf(history: History | BegunHistory, toolCallId: string): boolean {
  const { begun = [] } = history as Partial<BegunHistory>;
  return begun.some((entry) => entry.role === 'toolResult' && entry['toolCallId'] === toolCallId);
}

/** The texts of providers are no part of an answer: if they cannot be persisted, the next turn gets the history as text. */
function persistProviderSessions(
  { store, fence, logger }: FencedParts,
  session: SessionRecord,
  providerSessions: ProviderSessions,
): Promise<void> | undefined {
  if (isDeepStrictEqual(providerSessions, session.providerSessions ?? {})) return undefined;
  const { sessionId } = session;
  const writing = store.saveSession({ ...session, providerSessions }, { fence, mayWait: true });
  return writing.catch((error: unknown) =>
    logger.error('what an agent keeps of a session was not persisted', { sessionId, error }),
  );
}

/** Writes the question to the agent: the text made for models, or the words that were said, and those of its audio. */
export function promptOf({ promptText, content, transcript }: RoutedMessage): string {
  if (promptText !== undefined) return promptText;
  return [content, transcript ?? ''].filter((text) => text.trim() !== '').join('\n\n');
}
