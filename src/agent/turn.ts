import { type Clock, type Logger, oneLine, silentLogger, systemClock } from '../kernel/index.js';
import {
  type AgentEnd,
  type AgentRequest,
  type AssistantMessage,
  type SessionEvent,
  textOf,
} from '../stream/index.js';
import { cutOff } from './cut-off.js';
import type { ModelChoice } from './model.js';
import { OutputDeltas } from './output-deltas.js';
import { prepareTurn } from './prepare.js';
import { type RunFields, runFields } from './run-fields.js';
import { ToolCalls } from './tool-calls.js';
import { Trail } from './trail.js';
import { TranscriptWriter } from './transcript-writer.js';
import { TurnFailure } from './turn-failure.js';
import type { AgentTurnError, AgentTurnOptions, AgentTurnResult } from './turn-options.js';
import { addUsage, usagePayload } from './usage.js';

/**
 * Runs one turn of an agent through the pipeline. For its run it is the only dispatcher of `agent.*` and
 * `transcript.*`, in the order of seed 001: starting, model, prompt, llm.input, the stream with its tools and
 * writes, completed, llm.output.
 *
 * Whatever happens (an error, an abort, a stage that fails, a provider that throws or hangs) `agent.completed` is
 * emitted once, after the last event of the stream. Never rejects: the result says how it went.
 *
 * @example
 * const result = await runAgentTurn({ kernel, provider: echoProvider(), session, message: { text: 'Hi' }, runId });
 * if (result.status === 'completed') for (const text of result.assistantTexts) reply(text);
 */
export async function runAgentTurn(options: AgentTurnOptions): Promise<AgentTurnResult> {
  return new Turn(options).run();
}

/** A provider that is called, with what. */
interface Called {
  readonly choice: ModelChoice;
  readonly request: AgentRequest;
  readonly tools: ToolCalls;
}

type End = Pick<AgentTurnResult, 'status' | 'error'>;

class Turn {
  readonly #options: AgentTurnOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #signal: AbortSignal;
  readonly #trail: Trail;
  readonly #run: RunFields;
  readonly #writer: TranscriptWriter;
  readonly #deltas: OutputDeltas;
  readonly #startedAtMs: number;
  readonly #texts: string[] = [];
  #called: Called | undefined;
  #lastAssistant: AssistantMessage | undefined;
  #usages: AssistantMessage['usage'][] = [];
  #agentEnd: AgentEnd | undefined;

  constructor(options: AgentTurnOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? silentLogger;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#startedAtMs = this.#clock.now();
    const { agentId, sessionId } = options.session;
    this.#trail = new Trail(options.kernel, options.after, {
      agentId,
      sessionId,
      ...options.refs,
    });
    this.#run = runFields(options);
    this.#writer = new TranscriptWriter(this.#trail, options.session, options.runId);
    this.#deltas = new OutputDeltas(this.#trail, this.#run, this.#clock);
  }

  async run(): Promise<AgentTurnResult> {
    let end: End;
    try {
      await this.#stream(await this.#prepare());
      end = this.#ending();
    } catch (thrown) {
      end = this.#failure(thrown);
    }
    try {
      await this.#writer.flush();
    } catch (thrown) {
      if (end.status === 'completed') end = this.#failure(thrown);
    }
    const durationMs = Math.max(0, this.#clock.now() - this.#startedAtMs);
    const usage = this.#agentEnd?.usage ?? addUsage(this.#usages);
    await this.#complete(end, durationMs, usage);
    return {
      ...end,
      runId: this.#options.runId,
      assistantTexts: this.#texts,
      written: this.#writer.written,
      durationMs,
      last: this.#trail.last,
      ...(usage !== undefined && { usage }),
    };
  }

  /** Goes through the stages before the provider, and writes what it is asked. */
  async #prepare(): Promise<Called> {
    const scope = {
      options: this.#options,
      trail: this.#trail,
      run: this.#run,
      signal: this.#signal,
    };
    const { choice, request } = await prepareTurn(scope, this.#startedAtMs);
    const tools = new ToolCalls({
      trail: this.#trail,
      provider: choice.provider,
      run: this.#run,
      writer: this.#writer,
      clock: this.#clock,
      signal: this.#signal,
    });
    const called = { choice, tools, request: { ...request, gate: tools.gate.bind(tools) } };
    this.#called = called;
    const content = this.#options.message.text;
    await this.#writer.write({ role: 'user', content, timestamp: this.#clock.now() });
    return called;
  }

  async #stream({ choice, request, tools }: Called): Promise<void> {
    const { graceMs = 1_000, callbacks } = this.#options;
    const events = choice.provider.run(request);
    for await (const event of cutOff(events, this.#signal, this.#clock, graceMs)) {
      await this.#handle(event, tools);
      try {
        await callbacks?.onEvent?.(event);
      } catch (error) {
        this.#logger.error(`callbacks.onEvent threw at ${event.type}: ${oneLine(error)}`, {
          ...this.#run,
        });
      }
      if (this.#agentEnd !== undefined) return;
    }
  }

  async #handle(event: SessionEvent, tools: ToolCalls): Promise<void> {
    switch (event.type) {
      case 'message_start':
        this.#writer.openMessage();
        this.#deltas.openMessage();
        return;
      case 'message_update':
        this.#deltas.message(event.assistantMessageEvent);
        return;
      case 'message_end':
        return this.#messageEnd(event.message);
      case 'tool_execution_start':
        return tools.started(event);
      case 'tool_execution_update':
        this.#deltas.toolProgress(event);
        return;
      case 'tool_execution_end':
        return tools.ended(event);
      case 'agent_end':
        this.#agentEnd = event;
        return;
      case 'agent_start':
      case 'auto_compaction_start': // compaction.* comes with the normalizer's bridge
      case 'auto_compaction_end':
        return;
    }
  }

  async #messageEnd(message: AssistantMessage): Promise<void> {
    this.#lastAssistant = message;
    this.#usages.push(message.usage);
    const text = textOf(message);
    if (text.trim() !== '') this.#texts.push(text);
    await this.#writer.write(message);
  }

  #ending(): End {
    if (this.#signal.aborted || this.#agentEnd?.aborted === true) return { status: 'aborted' };
    const error = this.#agentEnd === undefined ? noEnd : this.#agentEnd.error;
    if (error === undefined) return { status: 'completed' };
    return failed('provider-failed', `${error.subtype}: ${error.message}`);
  }

  #failure(thrown: unknown): End {
    if (this.#signal.aborted) return { status: 'aborted' };
    if (thrown instanceof TurnFailure) return failed(thrown.code, thrown.message);
    return failed('provider-failed', oneLine(thrown));
  }

  /** Emits what ends a run: facts, so the run's signal does not stop them. */
  async #complete(end: End, durationMs: number, usage: AgentTurnResult['usage']): Promise<void> {
    const { session } = this.#options;
    const stopReason = this.#lastAssistant?.stopReason;
    const told = {
      durationMs,
      ...(end.error !== undefined && { error: end.error.message }),
      ...(stopReason !== undefined && { stopReason }),
      ...(usage !== undefined && { usage: usagePayload(usage) }),
    };
    try {
      await this.#trail.dispatch('agent.completed', {
        ...this.#run,
        ...told,
        success: end.status === 'completed',
        aborted: end.status === 'aborted',
        messages: [...session.history, ...this.#writer.written],
        startedAtMs: this.#startedAtMs,
        endedAtMs: this.#startedAtMs + durationMs,
      });
      if (this.#called === undefined) return; // no provider was called, so none has answered
      await this.#trail.dispatch('agent.llm.output', {
        ...this.#run,
        ...told,
        provider: this.#called.choice.provider.id,
        model: this.#called.choice.model,
        assistantTexts: [...this.#texts],
        ...(this.#lastAssistant !== undefined && { lastAssistant: this.#lastAssistant }),
      });
    } catch (error) {
      this.#logger.error(
        `the end of run ${this.#options.runId} was not dispatched: ${oneLine(error)}`,
      );
    }
  }
}

const noEnd = { subtype: 'no-end', message: 'the provider ended without agent_end' };

function failed(code: AgentTurnError['code'], message: string): End {
  return { status: 'failed', error: { code, message } };
}
