import { type Clock, type Gate, oneLine } from '../kernel/index.js';
import type {
  AgentProvider,
  ToolCall,
  ToolDecision,
  ToolExecutionEnd,
  ToolExecutionStart,
  ToolResultMessage,
} from '../stream/index.js';
import type { RunFields } from './run-fields.js';
import type { Trail } from './trail.js';
import type { TranscriptWriter } from './transcript-writer.js';
import { whyNot } from './turn-failure.js';

interface ActiveCall {
  readonly startedAtMs: number;
  params: Readonly<Record<string, unknown>>;
  /** Why it may not run; its result then says the same. */
  refusal?: string;
  /** `agent.tool.calling` was dispatched for it. */
  judged: boolean;
}

/** What the tool calls of a run need. */
interface ToolCallsOptions {
  readonly trail: Trail;
  readonly provider: AgentProvider;
  readonly run: RunFields;
  readonly writer: TranscriptWriter;
  readonly clock: Clock;
  /** Stops a decision that is under way; what has happened is told all the same. */
  readonly signal: AbortSignal;
}

/**
 * The tool calls of one run. Each gets one `agent.tool.calling` and one `agent.tool.called`, however it is
 * announced: by the gate that its provider asks, or, where nobody can stop it, by its events (`observe-only`).
 */
export class ToolCalls {
  readonly #with: ToolCallsOptions;
  readonly #active = new Map<string, ActiveCall>();

  constructor(options: ToolCallsOptions) {
    this.#with = options;
  }

  /** The gate of a request: a veto refuses the call with its reason, a patch changes its arguments. */
  async gate(call: ToolCall): Promise<ToolDecision> {
    const active = this.#open(call);
    try {
      return await this.#judge(call, active, 'enforce');
    } catch (error) {
      active.refusal = `the call could not be judged: ${oneLine(error)}`;
      return { allowed: false, reason: active.refusal };
    }
  }

  async started(event: ToolExecutionStart): Promise<void> {
    const active = this.#open(event);
    if (this.#with.provider.toolGate === 'observe-only')
      await this.#judge(event, active, 'observe-only');
  }

  async ended(event: ToolExecutionEnd): Promise<void> {
    const { toolCallId, toolName, result, isError } = event;
    const active = this.#active.get(toolCallId) ?? this.#open({ toolCallId, toolName, args: {} });
    // A call that never came by the gate, such as one that the model's own server ran, has run unjudged.
    if (!active.judged)
      await this.#judge({ toolCallId, toolName, args: active.params }, active, 'observe-only');
    this.#active.delete(toolCallId);
    const text = resultText(result);
    const message = active.refusal ?? (isError ? text : undefined);
    await this.#with.trail.dispatch('agent.tool.called', {
      ...this.#with.run,
      toolName,
      toolCallId,
      params: active.params,
      result,
      isError,
      durationMs: this.#with.clock.now() - active.startedAtMs,
      ...(message !== undefined && { error: message }),
    });
    await this.#with.writer.writeResult({
      role: 'toolResult',
      toolCallId,
      toolName,
      content: [{ type: 'text', text }],
      isError,
      timestamp: this.#with.clock.now(),
    } satisfies ToolResultMessage);
  }

  #open(call: ToolCall): ActiveCall {
    const existing = this.#active.get(call.toolCallId);
    if (existing !== undefined) return existing;
    const active = { startedAtMs: this.#with.clock.now(), params: call.args, judged: false };
    this.#active.set(call.toolCallId, active);
    return active;
  }

  async #judge(call: ToolCall, active: ActiveCall, gate: Gate): Promise<ToolDecision> {
    active.judged = true;
    const outcome = await this.#with.trail.dispatch(
      'agent.tool.calling',
      {
        ...this.#with.run,
        toolName: call.toolName,
        toolCallId: call.toolCallId,
        params: { ...call.args },
      },
      { gate, signal: this.#with.signal },
    );
    if (gate === 'observe-only') return { allowed: true, args: call.args };
    if (outcome.status === 'passed') {
      active.params = outcome.payload.params;
      return { allowed: true, args: outcome.payload.params };
    }
    active.refusal =
      outcome.status === 'cancelled'
        ? (outcome.cancel.text ?? outcome.cancel.code)
        : `the call ${whyNot(outcome)}`;
    return { allowed: false, reason: active.refusal };
  }
}

/** A tool's result as text: as it is, or as JSON, or, where JSON cannot say it, as what it is. */
export function resultText(result: unknown): string {
  if (typeof result === 'string') return result;
  try {
    const text = JSON.stringify(result, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return text ?? '';
  } catch {
    return '[a result that cannot be written as text]';
  }
}
