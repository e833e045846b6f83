import { definedFields, type Outcome, type PayloadOf } from '../kernel/index.js';
import type { AnsweredBy, AssistantMessage } from '../stream/index.js';
import type { RunFields, RunReport } from './run-fields.js';
import type { Trail } from './trail.js';
import { usagePayload } from './usage.js';

/** What a run begins with. */
export type RunStart = Omit<PayloadOf<'agent.starting'>, keyof RunFields | 'runId'>;

/** What goes to the model, as far as the run's fields do not say it. */
export type RunInput = Omit<PayloadOf<'agent.llm.input'>, keyof RunFields | 'runId'>;

/** That a model other than the one asked for answers. */
export type RunFallback = NonNullable<PayloadOf<'agent.llm.output'>['fallback']>;

/** The provider and model that answer a run. */
export interface RunModel {
  readonly provider: string;
  readonly model: string;
  /** Says that it answers in the place of another. */
  readonly fallback?: RunFallback;
}

/** The model that answered, if the agent went over to another one than the run was opened with. */
export function answeredBy(opened: RunModel, by: AnsweredBy | undefined): RunModel {
  if (by === undefined) return opened;
  const { provider, fallback } = opened;
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

/** What the end of a run is told with, beside its report. */
export interface RunEnding {
  readonly report: RunReport;
  readonly startedAtMs: number;
  /** The part of the transcript that the run was given, and what it added, as far as it is known. */
  readonly messages: readonly unknown[];
  readonly lastAssistant: AssistantMessage | undefined;
  /** Absent where no provider was called: then none has answered. */
  readonly model: RunModel | undefined;
}

/** Emits `agent.starting`. */
export function dispatchStarting(
  trail: Trail,
  run: RunFields,
  start: RunStart,
  signal: AbortSignal,
): Promise<Outcome<'agent.starting'>> {
  return trail.dispatch('agent.starting', { ...run, ...start }, { signal });
}

/** Emits `agent.llm.input`, just before a provider is called. */
export function dispatchInput(
  trail: Trail,
  run: RunFields,
  input: RunInput,
  signal: AbortSignal,
): Promise<Outcome<'agent.llm.input'>> {
  return trail.dispatch('agent.llm.input', { ...run, ...input }, { signal });
}

/** Emits what ends a run, `agent.completed` and `agent.llm.output`: facts, so the run's signal does not stop them. */
export async function dispatchEnd(trail: Trail, run: RunFields, ending: RunEnding): Promise<void> {
  const { report, startedAtMs, messages, lastAssistant, model } = ending;
  const { durationMs, error, usage } = report;
  const stopReason = lastAssistant?.stopReason;
  const told = {
    durationMs,
    ...(error !== undefined && { error: error.message }),
    ...definedFields({ stopReason }),
    ...(usage !== undefined && { usage: usagePayload(usage) }),
  };
  await trail.dispatch('agent.completed', {
    ...run,
    ...told,
    success: report.status === 'completed',
    aborted: report.status === 'aborted',
    messages: [...messages],
    startedAtMs,
    endedAtMs: startedAtMs + durationMs,
  });
  if (model === undefined) return;
  await trail.dispatch('agent.llm.output', {
    ...run,
    ...told,
    ...model,
    assistantTexts: [...report.assistantTexts],
    ...definedFields({ lastAssistant }),
  });
}
