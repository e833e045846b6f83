import { definedFields, type PayloadOf } from '../../kernel/index.js';
import type { SessionUsage } from '../../sdk/stream/index.js';

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
  let sum: SessionUsage | undefined;
  for (const usage of usages) {
    if (usage === undefined) continue;
    sum = sum === undefined ? usage : plus(sum, usage);
  }
  return sum;
}

function plus(a: SessionUsage, b: SessionUsage): SessionUsage {
  const costUsd =
    a.costUsd === undefined && b.costUsd === undefined
      ? undefined
      : (a.costUsd ?? 0) + (b.costUsd ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    ...definedFields({ costUsd }),
  };
}
