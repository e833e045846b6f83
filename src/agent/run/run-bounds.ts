import type { AgentProvider, AnsweredBy, AssistantMessage } from '@sluice/sdk/stream';
import { inOrder } from '@sluice/sdk/stream/internal';
import type { Given } from 'sluice-kernel';
import {
  type Clock,
  definedFields,
  type Gate,
  type Kernel,
  type Logger,
  type PayloadOf,
  perKernel,
} from 'sluice-kernel/internal';
import type { Approvals } from './approvals.js';
import { usagePayload } from './run-end.js';
import type { RunFields, RunReport, RunSession } from './run-fields.js';
import type { Trail } from './trail.js';

/** The fields of `agent.starting` beside those of the run. */
export type RunStart = Omit<PayloadOf<'agent.starting'>, keyof RunFields | 'runId'>;

/** The fields of `agent.llm.input` beside those of the run. */
export type RunInput = Omit<PayloadOf<'agent.llm.input'>, keyof RunFields | 'runId'>;

/** The note that another model answers than the one that was asked for. */
export type RunFallback = NonNullable<PayloadOf<'agent.llm.output'>['fallback']>;

/** The provider and model that answer a run. */
export interface RunModel {
  readonly provider: string;
  readonly model: string;
  /** Says that it answers in the place of another. */
  readonly fallback?: RunFallback;
}

/** Returns the model that answered, if one is known: the one of the opening, unless the agent went over to another. */
export function answeredBy(
  opened: RunProvider | undefined,
  last: AssistantMessage | undefined,
  by: AnsweredBy | undefined,
): RunModel | undefined {
  const model = opened?.model ?? last?.model;
  if (opened === undefined || model === undefined) return undefined;
  const { id: provider, fallback } = opened;
  if (by === undefined) return { provider, model, ...definedFields({ fallback }) };
  return {
    provider,
    model: by.toModel,
    fallback: {
      selectedProvider: provider,
      selectedModel: by.fromModel,
      ...fallback, // the run itself is in the place of another: that one was asked first
      phase: 'active',
      activeProvider: provider,
      activeModel: by.toModel,
      previousActiveModel: by.fromModel,
      ...definedFields({ reasonSummary: by.reason }),
    },
  };
}

/** The provider that answers a run. */
export interface RunProvider {
  readonly id: string;
  /** The model; by default the one that its last message names. */
  readonly model?: string;
  /** `enforce` if it asks the gate before a tool runs. */
  readonly toolGate: Gate;
  /** `enforce` if it asks about its model; else the answers of the model are observed. */
  readonly modelGate?: AgentProvider['modelGate'];
  /** It answers in the place of another model. */
  readonly fallback?: RunFallback;
  /** The subagent that a tool call starts; without it, no call starts any. */
  readonly subagentOf?: AgentProvider['subagentOf'];
}

/** The options of a run's dispatches. */
export interface RunDispatcherOptions {
  /** The dispatches before the run, with the refs that each of its dispatches carries. */
  readonly trail: Trail;
  readonly run: RunFields;
  readonly session: RunSession;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Stops the run: its decisions are given up, its facts are told all the same. A reason that is a `RunFailure` says
   * that the run has failed so; for any other it was aborted. Absent: nothing stops it.
   */
  readonly signal?: Given['signal'];
  /** Asks humans what vetoes ask about; without it, that is refused. */
  readonly approvals?: Approvals;
}

/** The end of a run from outside: something was thrown, or nobody wanted the rest of it. */
export type RunStop = { readonly error: unknown } | 'abandoned';

/** The facts that end a run. */
interface RunEnding {
  readonly report: RunReport;
  readonly startedAtMs: number;
  /** The part of the transcript that the run was given, and what it added, as far as it is known. */
  readonly messages: () => unknown[];
  readonly lastAssistant: AssistantMessage | undefined;
  /** Absent where no provider was called: then none has answered. */
  readonly model: RunModel | undefined;
}

/** Emits the end of a run, `agent.completed` and `agent.llm.output`: facts, so the run's signal does not stop them. */
export function dispatchEnd(
  trail: Trail,
  run: RunFields,
  ending: RunEnding,
): Promise<void> | undefined {
  const { report, startedAtMs, messages, lastAssistant, model } = ending;
  const { durationMs, error, usage } = report;
  const stopReason = lastAssistant?.stopReason;
  const told = () =>
    definedFields({
      durationMs,
      error: error?.message,
      stopReason,
      usage: usage && usagePayload(usage),
    });
  const completed = () => ({
    success: report.status === 'completed',
    aborted: report.status === 'aborted',
    messages: messages(),
    startedAtMs,
    endedAtMs: startedAtMs + durationMs,
    ...told(),
    ...run,
  });
  const output = (by: RunModel) => ({
    assistantTexts: [...report.assistantTexts],
    ...told(),
    ...by,
    ...definedFields({ lastAssistant }),
    ...run,
  });
  return inOrder(
    () => trail.tell('agent.completed', completed),
    () => model && trail.tell('agent.llm.output', () => output(model)),
  );
}

/** Keys that somebody holds, each as long as one of its holders does. */
export class HeldKeys {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(key: string): boolean {
    return this.#counts.has(key);
  }

  /** Holds a key until the returned function is called. Later calls of that function do nothing. */
  hold(key: string): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}

/** The runs of a kernel that have a dispatcher. The kernel itself does not know runs. */
const drivenRuns = perKernel(() => new HeldKeys());

/**
 * Returns whether a run has a dispatcher now: an agent turn, or a bridge. A second one would tell each fact of the run
 * twice.
 */
export function isRunDriven(kernel: Kernel, runId: string): boolean {
  return drivenRuns(kernel).has(runId);
}

/** Notes that a run is dispatched from now on, until the returned function is called. */
export function driveRun(kernel: Kernel, runId: string): () => void {
  return drivenRuns(kernel).hold(runId);
}
