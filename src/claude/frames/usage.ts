import type { SessionUsage } from '@sluice/sdk/stream';

/** The counts of the Messages API that session events have. */
export const countedFields = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;

/** Usage as the Messages API counts it, in the counts of session events. A count that is no number counts as missing. */
export function sessionUsage(
  raw: Readonly<Record<string, unknown>> | undefined,
  costUsd?: unknown,
): SessionUsage | undefined {
  if (raw === undefined) return undefined;
  const at = (field: string): number => {
    const value = raw[field];
    return typeof value === 'number' && value >= 0 ? Math.trunc(value) : 0;
  };
  const input = at('input_tokens');
  const output = at('output_tokens');
  const cacheRead = at('cache_read_input_tokens');
  const cacheWrite = at('cache_creation_input_tokens');
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    ...(typeof costUsd === 'number' && { costUsd }),
  };
}
