import {
  type AgentEnd,
  type AgentToolResult,
  type AssistantMessage,
  type SessionEvent,
  type SessionMessage,
  type SubagentAnswer,
  type SubagentFact,
  type ToolCall,
  type ToolDecision,
  type ToolExecutionEnd,
  type TranscriptEntry,
  textOf,
} from '@sluice/sdk/stream';
import { inOrder } from '@sluice/sdk/stream/internal';
import type { Given } from 'sluice-kernel';
import { definedFields, type Outcome, type StopSignal } from 'sluice-kernel/internal';
import { type Compactions, compactions } from './compactions.js';
import { ModelAnswers } from './model-answers.js';
import { isGrowth, OutputDeltas, withoutErrorText } from './output-deltas.js';
import {
  answeredBy,
  dispatchEnd,
  driveRun,
  type RunDispatcherOptions,
  type RunInput,
  type RunProvider,
  type RunStart,
  type RunStop,
} from './run-bounds.js';
import { addUsage, endByFailure, endOfRun } from './run-end.js';
import type { RunReport } from './run-fields.js';
import { subagents } from './subagents.js';
import { ToolCalls } from './tool-calls.js';
import { type TranscriptWriter, transcriptWriter } from './transcript-writer.js';

/**
 * Turns the events of one run into canonical dispatches, in the order of seed 001: `start`, `input`, `open`, then
 * `take` (and `told`) for each session event, `complete` last. An agent turn and the bridges emit a run through it
 * and through nothing else, so each family of a run has one emission site.
 *
 * @example
 * await run.start({ prompt });
 * run.open({ id: 'recorded', toolGate: 'observe-only' });
 * for await (const event of events) { await run.take(event); run.told(event); }
 * const report = await run.complete();
 */
export class RunDispatcher {
  readonly #with: RunDispatcherOptions;
  #startedAtMs: number;
  readonly #writer: TranscriptWriter;
  readonly #deltas: OutputDeltas;
  readonly #tools: ToolCalls;
  readonly #answers: ModelAnswers;
  readonly #subagents: ReturnType<typeof subagents>;
  readonly #compactions: Compactions;
  readonly #texts: string[] = [];
  #provider: RunProvider | undefined;
  #lastAssistant: AssistantMessage | undefined;
  #usages: AssistantMessage['usage'][] = [];
  #end: AgentEnd | undefined;
  #report: Promise<RunReport> | undefined;
  #release: () => void = () => undefined;

  constructor(options: RunDispatcherOptions) {
    const { trail, run, session, clock, logger, signal, approvals } = options;
    this.#with = options;
    Object.freeze(run); // V8 copies a frozen object faster (test/bench/NOTES.md)
    this.#startedAtMs = clock.now();
    this.#writer = transcriptWriter(trail, session, run.runId, signal);
    this.#deltas = new OutputDeltas(trail, run, clock);
    const mayRun = (call: ToolCall, stop: StopSignal) => this.#subagents.ask(call, stop);
    const asking = { trail, run, clock, approvals, signal, writer: this.#writer };
    const provider = () => this.#provider;
    const toolGate = () => provider()?.toolGate ?? 'enforce';
    this.#answers = new ModelAnswers({ provider, logger, ...asking });
    this.#tools = new ToolCalls({ mayRun, toolGate, ...asking });
    const subagentOf = (call: ToolCall) => this.#provider?.subagentOf?.(call);
    this.#subagents = subagents({ session, logger, tools: this.#tools, subagentOf, ...asking });
    this.#compactions = compactions(trail, run, logger);
  }

  /** True after `agent_end`: no later event belongs to the run. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The messages that the run has written so far. */
  get written(): readonly TranscriptEntry[] {
    return this.#writer.written;
  }

  /** Emits `agent.starting`: the run is driven from here until it is complete. */
  start(start: RunStart): Promise<Outcome<'agent.starting'>> | undefined {
    const { trail, run, clock, signal } = this.#with;
    this.#release = driveRun(trail.kernel, run.runId);
    this.#startedAtMs = clock.now();
    const begun = () => ({ ...run, startedAtMs: this.#startedAtMs, ...start });
    const telling = trail.tell('agent.starting', begun, signal);
    telling?.catch(() => this.#release());
    return telling;
  }

  /** Emits `agent.llm.input`. */
  input(input: () => RunInput): Promise<Outcome<'agent.llm.input'>> | undefined {
    const { trail, run, signal } = this.#with;
    return trail.tell('agent.llm.input', () => ({ ...run, ...input() }), signal);
  }

  /** A provider answers from now on. */
  open(provider: RunProvider): void {
    this.#provider = provider;
  }

  /** Writes a message that no session event brings, such as the prompt. */
  write(message: SessionMessage): Promise<void> | undefined {
    return this.#writer.write(message);
  }

  /** Asks `agent.tool.calling`, then `subagent.spawning`, about a call that is to run. Never rejects. */
  gate(call: ToolCall, signal?: Given['signal']): Promise<ToolDecision> {
    return this.#tools.gate(call, signal);
  }

  /** A call that the gate has allowed runs with other arguments. */
  runsWith(toolCallId: string, args: ToolCall['args']): void {
    this.#tools.runsWith(toolCallId, args);
  }

  /** A tool has answered: the host's, or one `of` the provider. Returns the answer that may be read (spec §16.31). */
  returning(call: ToolCall, result: AgentToolResult, of?: 'provider'): Promise<AgentToolResult> {
    return this.#tools[of === 'provider' ? 'ownReturning' : 'returning'](call, result);
  }

  /** A model has answered. Returns the message that may be used (spec §16.32); rejects with a RunFailure `stage-failed`. */
  llmReturning(message: AssistantMessage, streaming: boolean) {
    return this.#answers.returning(message, streaming);
  }

  /** Returns whether an answer is not shown before it is judged. @param showsWhole what was shown can be put right. */
  holdsAnswers(showsWhole: boolean): boolean {
    return this.#answers.holds(showsWhole);
  }

  /** Writes a placeholder for an answer that was kept back. */
  withhold(message: AssistantMessage, why: unknown): Promise<void> {
    return this.#answers.withhold(message, why);
  }

  /** Somebody judges results of tools: a part of one must not be shown before the whole. */
  get judgesResults(): boolean {
    return this.#tools.judgesResults;
  }

  /**
   * Dispatches a fact of a subagent: one after the other, each before the next event that does not grow. Never rejects.
   */
  report(fact: SubagentFact): Promise<void> {
    return this.ended ? Promise.resolve() : this.#subagents.report(fact);
  }

  /** Returns the subagents of the main thread among these runs, as far as told. */
  answering(childRunIds: readonly string[]): readonly SubagentAnswer[] {
    return this.#subagents.answering(childRunIds);
  }

  /**
   * Dispatches the facts of a session event, before a listener is told of it. Returns nothing if there is nothing to wait for.
   *
   * @throws RunFailure `not-written`.
   */
  take(event: SessionEvent): Promise<void> | undefined {
    if (this.ended) return undefined;
    const telling = this.#subagents.telling();
    return telling === undefined || isGrowth(event)
      ? this.#take(event)
      : telling.then(() => this.#take(event));
  }

  #take(event: SessionEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'message_start':
        this.#writer.openMessage();
        this.#deltas.openMessage();
        break;
      case 'message_update':
        this.#deltas.message(event);
        break;
      case 'message_end':
        return this.#messageEnd(event.message);
      case 'tool_execution_start':
        return inOrder(
          () => this.#tools.started(event),
          () => this.#subagents.called(event),
        );
      case 'tool_execution_update':
        this.#deltas.toolProgress(event);
        break;
      case 'tool_execution_end':
        return this.#toolEnd(event);
      case 'auto_compaction_start': {
        const { history, beforeHistory } = this.#with.session;
        const messages = history && [...history, ...this.#writer.written];
        const before = beforeHistory?.messages ?? 0;
        this.#compactions.started(this.#with.trail, event, messages, before);
        break;
      }
      case 'agent_end':
        this.#end = event;
        break;
      default: // `auto_compaction_end` is dispatched when its listener has been told: seed 001
    }
    return undefined;
  }

  /** Dispatches the facts of an event that come after its listener. */
  told(event: SessionEvent): void {
    if (event.type === 'auto_compaction_end') this.#compactions.ended(event);
  }

  /**
   * Ends the run, once: waits for the dispatches under way, then emits `agent.completed` and `agent.llm.output`. Never
   * rejects.
   *
   * @param stop the end from outside; without it `agent_end` tells how the run went.
   */
  complete(stop?: RunStop): Promise<RunReport> {
    this.#report ??= this.#complete(stop);
    return this.#report;
  }

  async #complete(stop: RunStop | undefined): Promise<RunReport> {
    const { trail, run, session, clock, logger, signal } = this.#with;
    let end =
      typeof stop === 'object'
        ? endByFailure(stop.error, signal)
        : endOfRun(this.#end, signal, stop === 'abandoned');
    this.#tools.giveUp();
    try {
      const parts = [this.#subagents, this.#writer, this.#tools];
      const closing = inOrder(...parts.map((part) => () => part.close()));
      if (closing !== undefined) await closing;
    } catch (error) {
      if (end.status === 'completed') end = endByFailure(error, signal);
    }
    const durationMs = Math.max(0, clock.now() - this.#startedAtMs);
    await this.#compactions.drained();
    const usage = this.#end?.usage ?? addUsage(this.#usages);
    const report = Object.freeze({
      assistantTexts: this.#texts,
      written: this.#writer.written,
      durationMs,
      ...definedFields({ usage }),
      ...end,
    });
    try {
      const telling = dispatchEnd(trail, run, {
        report: { ...report, last: trail.last },
        startedAtMs: this.#startedAtMs,
        messages: () => [...(session.history ?? []), ...this.#writer.written],
        lastAssistant: this.#lastAssistant,
        model: answeredBy(this.#provider, this.#lastAssistant, this.#end?.fallback),
      });
      if (telling !== undefined) await telling;
    } catch (error) {
      logger.error(`the end of run ${run.runId} was not dispatched`, { error });
    }
    this.#release();
    return { ...report, last: trail.last };
  }

  #toolEnd(event: ToolExecutionEnd): Promise<void> | undefined {
    // A stopped run stops its subagents: their calls did not fail, and they end with the run.
    const counts = !event.isError || this.#with.signal?.aborted !== true;
    return inOrder(
      () => (counts ? this.#subagents.answered(event.toolCallId, event.isError) : undefined),
      () => this.#tools.ended(event),
    );
  }

  #messageEnd(ended: AssistantMessage): Promise<void> | undefined {
    return inOrder(
      () => this.#answers.observed(ended),
      () => this.#write(withoutErrorText(ended)),
    );
  }

  #write(message: AssistantMessage): Promise<void> | undefined {
    this.#lastAssistant = message;
    this.#usages.push(message.usage);
    const text = textOf(message);
    if (text.trim() !== '') this.#texts.push(text);
    return this.#writer.write(message);
  }
}
