import { once } from './launch.mjs';

/*
 * The bytes of a dispatch, row by row, with its payload and the results of its handlers: `node test/bench/limits.mjs`
 * fails if a row takes more. A launch whose code V8 had not optimized in time takes more, so a row has several launches to come
 * below its limit, which is about a tenth above what was measured on Node 20, 22 and 24.
 */
const limits = {
  'observers-0': 456,
  'observers-20': 864,
  'async-observers-1': 1_376,
  'async-observers-20': 9_440,
  'sync-mutators-20': 6_264,
  'mutators-20': 6_928,
  'async-mutators-1': 2_100,
  'async-mutators-20': 15_000,
  veto: 1_360,
};
const maxLaunches = 8;
const pace = { warmMs: 150, rounds: 1, ms: 20 };

for (const [id, limit] of Object.entries(limits)) {
  let least = Number.POSITIVE_INFINITY;
  for (let launch = 0; launch < maxLaunches && least > limit; launch++) {
    const { bytes } = once({ job: 'scenario', contender: 'sluice', id, ...pace });
    least = Math.min(least, Math.round(bytes));
  }
  const isMet = least <= limit;
  if (!isMet) process.exitCode = 1;
  process.stdout.write(`${id}: ${least} B, at most ${limit}${isMet ? '' : ': TOO MANY'}\n`);
}
