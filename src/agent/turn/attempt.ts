import { tapRelayOf } from '@sluice/sdk/extension/internal';
import {
  type AgentProvider,
  type AgentRequest,
  type AgentTool,
  isPrompt,
  isSessionMessage,
  modelMessages,
  type SessionEvent,
  type SessionMessage,
  type ToolDefinition,
  type TranscriptEntry,
} from '@sluice/sdk/stream';
import { Stop } from '@sluice/sdk/stream/internal';
import { definedFields, oneLine } from 'sluice-kernel/internal';
import { saysSomething } from '../reply/text/directives/read-directives.js';
import { readMessage } from '../reply/text/message-text.js';
import { RunDispatcher, RunFailure, type RunFallback, type RunStop } from '../run/index.js';
import { makeAgain, partBegun } from '../tools/calls-again.js';
import { givenTools } from '../tools/given-tools.js';
import { saying } from './answer.js';
import { CutOff, untilCut } from './cut-off.js';
import { JudgedAnswers } from './judged-answers.js';
import { type ModelChoice, refOf } from './model.js';
import { prepareAttempt } from './prepare.js';
import type { AttemptScope, TurnScope } from './turn-fields.js';
import { turnListener } from './turn-listener.js';
import type { AgentAttempt } from './turn-options.js';

const saidNothing =
  'the agent ended without a text, a file or a tool call; an agent that means it says NO_REPLY';

/** The beginning of an attempt. */
export interface AttemptStart {
  /** From 1. */
  readonly attempt: number;
  /** The model to call; resolved where absent. */
  readonly choice?: ModelChoice;
  readonly fallback?: RunFallback;
  /** The messages that the attempts before have written, the prompt first. */
  readonly written: readonly TranscriptEntry[];
}

/**
 * Makes one attempt of a turn: from `agent.starting` to `agent.completed` and `agent.llm.output`, which are emitted once
 * whatever happens. Never rejects.
 */
export async function runAttempt(turn: TurnScope, start: AttemptStart) {
  const { options, trail, fields, clock, logger, signal, cut, kept } = turn;
  const { session } = options;
  const { agentId, sessionKey, sessionId, beforeHistory } = session;
  const { written, attempt, fallback } = start;
  const run = new RunDispatcher({
    trail,
    run: fields,
    session: {
      agentId,
      sessionKey,
      sessionId,
      history: [...session.history, ...written],
      append: (message) => session.append(message),
      ...definedFields({ beforeHistory }),
    },
    clock,
    logger,
    signal,
    ...definedFields({ approvals: options.approvals }),
  });
  // The prompt is in the transcript once and goes to the model once, also after attempts that failed.
  const prompt = written.find(isPrompt);
  const isFirst = attempt === 1 && session.begun === undefined;
  const begun = isFirst ? undefined : written.filter((entry) => entry !== prompt);
  const scope: AttemptScope = { run, attempt, begun, ...turn };
  const listener = turnListener(turn);
  /** The choice, if its model was called. */
  let choice: ModelChoice | undefined;
  let hasBegun = false;
  /** The messages that were written before the provider runs: they are in `begun`. */
  let madeBefore = 0;
  /** The reader has `agent_start`. */
  let isStarted = false;
  let isAsked = prompt !== undefined;
  let endedWell = false;
  let toolCalls = 0;
  /** It has asked for a tool, or was asked for a compaction alone. */
  let hasActed = false;
  let telling: Promise<void> | undefined;
  /** Absent if what the model says can only be observed. */
  let answers: JudgedAnswers | undefined;
  /** Stops the tools of the host that still run when the attempt has ended. */
  let toolsOver: Stop | undefined;

  /** Goes through the stages before the provider. Gives what begins the stream. */
  async function prepare(): Promise<() => AsyncIterable<SessionEvent>> {
    const { choice: chosen, request, answer } = await prepareAttempt(scope, start.choice);
    hasBegun = true;
    if (answer !== undefined) return () => saying(answer);
    choice = chosen;
    const { provider, model } = chosen;
    const { id, toolGate, modelGate } = provider;
    const subagentOf = provider.subagentOf?.bind(provider);
    run.open({ id, toolGate, model, ...definedFields({ modelGate, fallback, subagentOf }) });
    if (modelGate === 'enforce') answers = new JudgedAnswers(run, options.callbacks);
    const offer = (tools: readonly ToolDefinition[]) => offerTo(id, tools);
    const tools = toolsFor(provider);
    const whole: AgentRequest = {
      gate,
      tell,
      offer,
      llmReturning: (message) => answers?.judge(message) ?? message,
      toolReturning: (call, result) => run.returning(call, result, 'provider'),
      written: () =>
        run.written
          .slice(madeBefore)
          .filter(isSessionMessage)
          .filter((message) => message.role !== 'user'),
      keepSession: (token) => void kept.set(id, token),
      ...request,
      ...definedFields({ providerSession: kept.get(id), tools }),
    };
    if (tools !== undefined && begun !== undefined) await untilCut(makeCallsAgain(tools), cut);
    madeBefore = run.written.length;
    return () => provider.run({ ...whole, ...begunNow() });
  }

  /** The work before the provider is asked: also that of this attempt. */
  const begunNow = () => {
    const since = run.written.filter((entry) => !isPrompt(entry));
    return partBegun(begun && [...begun, ...since], (id) => session.isAsked?.(id) === true);
  };

  /** Makes the calls that a person was asked about before a stop, as far as their tools are the host's. */
  async function makeCallsAgain(tools: readonly AgentTool[]): Promise<void> {
    for (const call of begunNow().callsAgain ?? []) {
      const tool = tools.find(({ name }) => name === call.toolName);
      if (tool === undefined || signal.aborted) continue;
      if (!isStarted) await take({ type: 'agent_start' });
      isStarted = true;
      await makeAgain(call, tool, async (event) => take(event));
    }
  }

  function toolsFor(provider: AgentProvider): AgentRequest['tools'] {
    const given = provider.ownTools === undefined ? [] : (options.tools?.(provider) ?? []);
    return given.length === 0 ? undefined : offerTo(provider.id, given);
  }

  function offerTo(extensionId: string, tools: readonly ToolDefinition[]) {
    toolsOver ??= new Stop(signal);
    return givenTools(tools, {
      ...{ run: fields, gate, clock, logger, signal: toolsOver },
      judge: run,
      around: (work, tool) => {
        const event = trail.last?.event;
        const of = { extensionId, tool: { ...tool, runId: fields.runId } };
        return tapRelayOf(options.kernel).run(work, { ...of, ...definedFields({ event }) });
      },
    });
  }

  async function stream(begin: () => AsyncIterable<SessionEvent>): Promise<void> {
    try {
      for await (const event of new CutOff(begin(), cut)) {
        if (event.type === 'agent_start' && isStarted) continue;
        const taking = take(event);
        if (taking !== undefined) await taking;
        if (event.type === 'agent_end') endedWell = event.error === undefined && !event.aborted;
        if (run.ended || cut.aborted) return;
      }
    } finally {
      await wait(ask());
    }
  }

  /**
   * One event: its dispatches and its callbacks, in the order of the live system (spec §16.7). What grows is dispatched
   * first, as an agent event is emitted before its callbacks; of all else the callbacks hear before the hooks.
   */
  function take(event: SessionEvent): Promise<void> | undefined {
    const left = answers?.left(event);
    if (left === undefined) return takeOne(event);
    return Array.isArray(left) && left.length === 0 ? undefined : takeAll(left);
  }

  async function takeAll(events: ReturnType<JudgedAnswers['left']>): Promise<void> {
    for (const event of (await untilCut(Promise.resolve(events), cut)) ?? []) {
      const taking = takeOne(event);
      if (taking !== undefined) await taking;
    }
  }

  function takeOne(event: SessionEvent): Promise<void> | undefined {
    if (event.type !== 'message_update' || !isAsked) return takeInOrder(event);
    void run.take(event); // at once: nothing that grows is waited for
    return wait(listener.report(event)); // as a rule a piece of a text costs no promise
  }

  async function takeInOrder(event: SessionEvent): Promise<void> {
    if (event.type !== 'agent_start' && !isAsked) await wait(ask());
    if (event.type === 'tool_execution_start') toolCalls++;
    if (event.type === 'auto_compaction_start') hasActed ||= event.reason === 'manual';
    if (event.type !== 'message_update') await wait(telling);
    if (isDispatchedFirst(event)) {
      await run.take(event);
      await wait(listener.report(event));
    } else {
      await wait(listener.report(event));
      await wait(run.take(event));
    }
    run.told(event);
    if (event.type === 'agent_start') await wait(ask());
  }

  /** Waits, but not longer than the turn may. Nothing to wait for costs nothing. */
  function wait(promise: Promise<void> | undefined): Promise<void> | undefined {
    return promise && untilCut(promise, cut);
  }

  function isDispatchedFirst({ type }: SessionEvent): boolean {
    if (type === 'auto_compaction_start') return listener.order === 'seed';
    return type === 'message_update' || type === 'tool_execution_update';
  }

  /** Writes what the agent is asked, once its run has begun. */
  async function ask(): Promise<void> {
    if (isAsked) return;
    isAsked = true;
    const { text: content } = options.message;
    const around = definedFields({ surroundings: turn.surroundings });
    await run.write({ role: 'user', content, ...around, timestamp: clock.now() });
  }

  /** A tool does not run before what came before it has been told, what was to be flushed is flushed, and its call is kept. */
  const gate: AgentRequest['gate'] = async (call, stop) => {
    hasActed = true;
    await wait(listener.told());
    await options.session.kept?.();
    return run.gate(call, stop);
  };

  /**
   * Dispatches the facts of subagents. Before the next event, the callbacks hear which subagents the answer is about.
   */
  const tell: AgentRequest['tell'] = (fact) => {
    const told = run.report(fact);
    if (fact.kind === 'answered') telling = told.then(() => listener.answered());
    if (fact.kind === 'children_answered')
      telling = told.then(() => listener.answered(run.answering(fact.childRunIds)));
  };

  /** Before a model is called, no run of a model has begun that could fail. */
  async function failed(message: string): Promise<void> {
    if (answers?.isOpen === true) await wait(listener.report(endedBy(message)));
    if (hasBegun) await wait(listener.failed(message));
  }

  /** The model has said nothing and done nothing about this prompt, also before this attempt or a crash (spec §16.28). */
  function isSilent(): boolean {
    if (options.mustAnswer !== true || choice === undefined) return false;
    if (hasActed || answers?.hasChanged === true || toolCalls > 0 || listener.hasSaid())
      return false;
    const before = modelMessages((begun ?? []).filter(isSessionMessage));
    return !before.some(isWork);
  }

  let stop: RunStop | undefined;
  try {
    await stream(await prepare());
    if (!run.ended && !signal.aborted) await failed('it ended without agent_end');
    if (endedWell && isSilent()) throw new RunFailure('said-nothing', saidNothing);
  } catch (error) {
    stop = { error };
    if (!signal.aborted) await failed(oneLine(error));
  }
  toolsOver?.abort();
  const report = await run.complete(stop);
  listener.close();
  const model = choice && refOf(choice);
  const made: AgentAttempt = { attempt, toolCalls, ...definedFields({ model }), ...report };
  return { report: made, choice, replyTexts: listener.replyTexts };
}

/** An attempt that has ended. */
export type EndedAttempt = Awaited<ReturnType<typeof runAttempt>>;

/** Ends a message of which parts were shown, and of which nothing is to be sent: nobody has judged it. */
function endedBy(errorMessage: string): SessionEvent {
  const message = { role: 'assistant', content: [], stopReason: 'error', errorMessage } as const;
  return { type: 'message_end', message };
}

/** A message is a result of a tool, or has words that are no thoughts. */
function isWork(message: SessionMessage): boolean {
  if (message.role === 'assistant') return saysSomething(readMessage(message, false).text);
  return message.role === 'toolResult';
}
