import { tapRelayOf } from '@sluice/sdk/extension/internal';
import {
  type AgentProvider,
  type AgentRequest,
  type AgentTool,
  type AgentToolResult,
  type AssistantMessage,
  isPrompt,
  isSessionMessage,
  modelMessages,
  type SessionEvent,
  type SessionMessage,
  type ToolCall,
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
import { AttemptEvents } from './attempt-events.js';
import { CutOff, untilCut } from './cut-off.js';
import { endedBy, JudgedAnswers } from './judged-answers.js';
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
export function runAttempt(turn: TurnScope, start: AttemptStart): Promise<EndedAttempt> {
  return new Attempt(turn, start).run();
}

/** An attempt that has ended. */
export interface EndedAttempt {
  readonly report: AgentAttempt;
  /** The choice, if its model was called. */
  readonly choice: ModelChoice | undefined;
  readonly replyTexts: ReturnType<typeof turnListener>['replyTexts'];
}

/** The answer in place of the model apart. */
type Prepared = Exclude<Awaited<ReturnType<typeof prepareAttempt>>, { answer: unknown }>;

class Attempt {
  readonly #scope: AttemptScope;
  readonly #start: AttemptStart;
  readonly #run: RunDispatcher;
  readonly #listener: ReturnType<typeof turnListener>;
  readonly #events: AttemptEvents;
  /** The work of the turn before this attempt, if there was some. */
  readonly #begun: readonly TranscriptEntry[] | undefined;
  /** The choice, if its model was called. */
  #choice: ModelChoice | undefined;
  #hasBegun = false;
  /** The messages that were written before the provider runs: they are in what has begun. */
  #madeBefore = 0;
  /** The reader has `agent_start`. */
  #isStarted = false;
  #endedWell = false;
  /** It has asked for a tool. */
  #hasActed = false;
  /** Stops the tools of the host that still run when the attempt has ended. */
  #toolsOver: Stop | undefined;

  constructor(turn: TurnScope, start: AttemptStart) {
    const { options, trail, fields, clock, logger, signal } = turn;
    const { session } = options;
    const { agentId, sessionKey, sessionId, beforeHistory } = session;
    const { written, attempt } = start;
    this.#start = start;
    this.#run = new RunDispatcher({
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
    this.#begun = isFirst ? undefined : written.filter((entry) => entry !== prompt);
    this.#scope = { run: this.#run, attempt, begun: this.#begun, ...turn };
    this.#listener = turnListener(turn);
    this.#events = new AttemptEvents(this.#scope, this.#listener, prompt !== undefined);
  }

  async run(): Promise<EndedAttempt> {
    const { signal } = this.#scope;
    let stop: RunStop | undefined;
    try {
      await this.#stream(await this.#prepare());
      if (!this.#run.ended && !signal.aborted) await this.#failed('it ended without agent_end');
      if (this.#endedWell && this.#isSilent()) throw new RunFailure('said-nothing', saidNothing);
    } catch (error) {
      stop = { error };
      if (!signal.aborted) await this.#failed(oneLine(error));
    }
    this.#toolsOver?.abort();
    const report = await this.#run.complete(stop);
    this.#listener.close();
    const choice = this.#choice;
    const model = choice && refOf(choice);
    const { attempt } = this.#start;
    const made = {
      attempt,
      toolCalls: this.#events.toolCalls,
      ...definedFields({ model }),
      ...report,
    };
    return { report: made, choice, replyTexts: this.#listener.replyTexts };
  }

  /** Goes through the stages before the provider. Gives what begins the stream. */
  async #prepare(): Promise<() => AsyncIterable<SessionEvent>> {
    const { choice, request, answer } = await prepareAttempt(this.#scope, this.#start.choice);
    this.#hasBegun = true;
    if (answer !== undefined) return () => saying(answer);
    this.#choice = choice;
    const { provider, model } = choice;
    const { id, toolGate, modelGate } = provider;
    const subagentOf = provider.subagentOf?.bind(provider);
    const { fallback } = this.#start;
    this.#run.open({ id, toolGate, model, ...definedFields({ modelGate, fallback, subagentOf }) });
    const { callbacks } = this.#scope.options;
    if (modelGate === 'enforce') this.#events.answers = new JudgedAnswers(this.#run, callbacks);
    const tools = this.#toolsFor(provider);
    const whole = this.#requestOf(id, request, tools);
    if (tools !== undefined && this.#begun !== undefined)
      await untilCut(this.#makeCallsAgain(tools), this.#scope.cut);
    this.#madeBefore = this.#run.written.length;
    return () => provider.run({ ...whole, ...this.#begunNow() });
  }

  /** The request of a provider: what is prepared for it, and what is the attempt's own. One literal, whose fields come before spreads. */
  #requestOf(
    id: string,
    prepared: Prepared['request'],
    tools: readonly AgentTool[] | undefined,
  ): AgentRequest {
    const { kept } = this.#scope;
    return {
      gate: this.#gate,
      tell: this.#events.tell,
      offer: (tools: readonly ToolDefinition[]) => this.#offerTo(id, tools),
      llmReturning: (message: AssistantMessage) => this.#events.answers?.judge(message) ?? message,
      toolReturning: (call: ToolCall, result: AgentToolResult) =>
        this.#run.returning(call, result, 'provider'),
      written: () =>
        this.#run.written
          .slice(this.#madeBefore)
          .filter(isSessionMessage)
          .filter((message) => message.role !== 'user'),
      keepSession: (token: string) => void kept.set(id, token),
      ...prepared,
      ...definedFields({ providerSession: kept.get(id), tools }),
    };
  }

  /** The work before the provider is asked: also that of this attempt. */
  #begunNow() {
    const { session } = this.#scope.options;
    const since = this.#run.written.filter((entry) => !isPrompt(entry));
    const begun = this.#begun && [...this.#begun, ...since];
    return partBegun(begun, (id) => session.isAsked?.(id) === true);
  }

  /** Makes the calls that a person was asked about before a stop, as far as their tools are the host's. */
  async #makeCallsAgain(tools: readonly AgentTool[]): Promise<void> {
    for (const call of this.#begunNow().callsAgain ?? []) {
      const tool = tools.find(({ name }) => name === call.toolName);
      if (tool === undefined || this.#scope.signal.aborted) continue;
      if (!this.#isStarted) await this.#events.take({ type: 'agent_start' });
      this.#isStarted = true;
      await makeAgain(call, tool, async (event) => this.#events.take(event));
    }
  }

  #toolsFor(provider: AgentProvider): AgentRequest['tools'] {
    const { options } = this.#scope;
    const given = provider.ownTools === undefined ? [] : (options.tools?.(provider) ?? []);
    return given.length === 0 ? undefined : this.#offerTo(provider.id, given);
  }

  #offerTo(extensionId: string, tools: readonly ToolDefinition[]) {
    const { options, trail, fields, clock, logger, signal } = this.#scope;
    this.#toolsOver ??= new Stop(signal);
    return givenTools(tools, {
      ...{ run: fields, gate: this.#gate, clock, logger, signal: this.#toolsOver },
      judge: this.#run,
      around: (work, tool) => {
        const event = trail.last?.event;
        const of = { extensionId, tool: { ...tool, runId: fields.runId } };
        return tapRelayOf(options.kernel).run(work, { ...of, ...definedFields({ event }) });
      },
    });
  }

  async #stream(begin: () => AsyncIterable<SessionEvent>): Promise<void> {
    const { cut } = this.#scope;
    try {
      for await (const event of new CutOff(begin(), cut)) {
        if (event.type === 'agent_start' && this.#isStarted) continue;
        const taking = this.#events.take(event);
        if (taking !== undefined) await taking;
        if (event.type === 'agent_end')
          this.#endedWell = event.error === undefined && !event.aborted;
        if (this.#run.ended || cut.aborted) return;
      }
    } finally {
      const asking = this.#events.wait(this.#events.ask());
      if (asking !== undefined) await asking;
    }
  }

  /** A tool does not run before what came before it has been told, what was to be flushed is flushed, and its call is kept. */
  readonly #gate: AgentRequest['gate'] = async (call, stop) => {
    this.#hasActed = true;
    await this.#events.wait(this.#listener.told());
    await this.#scope.options.session.kept?.();
    return this.#run.gate(call, stop);
  };

  /** Before a model is called, no run of a model has begun that could fail. */
  async #failed(message: string): Promise<void> {
    const listener = this.#listener;
    if (this.#events.answers?.isOpen === true)
      await this.#events.wait(listener.report(endedBy(message)));
    if (this.#hasBegun) await this.#events.wait(listener.failed(message));
  }

  /** The model has said nothing and done nothing about this prompt, also before this attempt or a crash (spec §16.28). */
  #isSilent(): boolean {
    if (this.#scope.options.mustAnswer !== true || this.#choice === undefined) return false;
    const { answers, isCompacted, toolCalls } = this.#events;
    const hasActed = this.#hasActed || isCompacted || toolCalls > 0;
    if (hasActed || answers?.hasChanged === true || this.#listener.hasSaid()) return false;
    const before = modelMessages((this.#begun ?? []).filter(isSessionMessage));
    return !before.some(isWork);
  }
}

/** A message is a result of a tool, or has words that are no thoughts. */
function isWork(message: SessionMessage): boolean {
  if (message.role === 'assistant') return saysSomething(readMessage(message, false).text);
  return message.role === 'toolResult';
}
