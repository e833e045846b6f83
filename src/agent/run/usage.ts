import type { SessionUsage } from '@sluice/sdk/stream';
import { definedFields, type PayloadOf } from 'sluice-kernel/internal';

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
