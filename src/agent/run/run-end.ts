import type { AgentEnd, SessionUsage } from '@sluice/sdk/stream';
import { definedFields, oneLine, type PayloadOf, type StopSignal } from 'sluice-kernel/internal';
import { RunFailure } from './run-failure.js';
import type { RunError, RunReport } from './run-fields.js';

type RunEnd = Pick<RunReport, 'status' | 'error'>;

/**
 * Judges the end of a run in which nothing was thrown.
 *
 * @param end its `agent_end`, if that came.
 * @param signal stops the run; absent: nothing does.
 * @param isAbandoned nobody wanted the rest of the run.
 */
export function endOfRun(
  end: AgentEnd | undefined,
  signal: StopSignal | undefined,
  isAbandoned: boolean,
): RunEnd {
  if (signal?.aborted === true) return stoppedBy(signal);
  if (end?.aborted === true) return { status: 'aborted' };
  if (end === undefined && isAbandoned) return { status: 'aborted' };
  const error = end === undefined ? noEnd : end.error;
  if (error === undefined) return { status: 'completed' };
  return failed('provider-failed', `${error.subtype}: ${error.message}`);
}

/** Judges the end of a run in which something was thrown. */
export function endByFailure(thrown: unknown, signal: StopSignal | undefined): RunEnd {
  if (signal?.aborted === true) return stoppedBy(signal);
  if (thrown instanceof RunFailure) return failedBy(thrown);
  const { retryAfterMs } = Object(thrown);
  const again = Number.isFinite(retryAfterMs) && retryAfterMs >= 0 ? { retryAfterMs } : {};
  const error = { code: 'provider-failed', message: oneLine(thrown), ...again } as const;
  return { status: 'failed', error };
}

/** A reason that is a `RunFailure` says that the run has failed so. */
function stoppedBy({ reason }: StopSignal): RunEnd {
  return reason instanceof RunFailure ? failedBy(reason) : { status: 'aborted' };
}

const noEnd = { subtype: 'no-end', message: 'the provider ended without agent_end' };

function failedBy({ code, message, cancel }: RunFailure): RunEnd {
  return { status: 'failed', error: { code, message, ...definedFields({ cancel }) } };
}

function failed(code: RunError['code'], message: string): RunEnd {
  return { status: 'failed', error: { code, message } };
}

/** Turns usage into the form of the pipeline's events. */
export function usagePayload(
  usage: SessionUsage,
): NonNullable<PayloadOf<'agent.completed'>['usage']> {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite,
    totalTokens: usage.totalTokens,
    ...definedFields({ costUsd: usage.costUsd }),
  };
}

/** Adds usages up; `undefined` if there is none. */
export function addUsage(usages: readonly (SessionUsage | undefined)[]): SessionUsage | undefined {
  const known = usages.filter((usage) => usage !== undefined);
  return known.length === 0 ? undefined : known.reduce(plus);
}

function plus(a: SessionUsage, b: SessionUsage): SessionUsage {
  const costUsd = a.costUsd === undefined ? b.costUsd : a.costUsd + (b.costUsd ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    ...definedFields({ costUsd }),
  };
}
