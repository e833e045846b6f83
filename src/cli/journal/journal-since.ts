import { badArguments } from '../errors/command-error.js';

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads the time after `--since`: a span before now, or a date.
 *
 * @returns milliseconds since 1970.
 * @throws CommandError `bad-arguments`.
 */
export function sinceMsOf(since: string, nowMs: number): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(since) ?? [];
  if (count !== undefined) return nowMs - Number(count) * units[unit as keyof typeof units]; // as the pattern has it
  const ms = /^\d{4}-\d\d-\d\d/.test(since) ? Date.parse(since) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw badArguments(`--since is "${since}"`, 'Write 30m, 2h, 7d, or a date such as 2026-03-15.');
}
