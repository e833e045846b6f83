import fc from '../../node_modules/fast-check/lib/fast-check.js';

/*
 * What `fast-check` is in the tests (`vitest.shared.ts`). A run draws the same values each time, so that no outcome depends on luck.
 * `FC_SEED=random` or a number draws others, and `FC_TIMES=20` draws twenty times as many: the long form of each property.
 */
const { FC_SEED = '1', FC_TIMES = '1' } = process.env;
fc.configureGlobal(FC_SEED === 'random' ? {} : { seed: Number(FC_SEED) });

/** A property that names its seed counts its runs, too. */
function withTimes<T>(params: fc.Parameters<T> = {}): fc.Parameters<T> {
  if (params.seed !== undefined) return params;
  return { ...params, numRuns: (params.numRuns ?? 100) * Number(FC_TIMES) };
}

// its overloads say what a property of each kind gives
const assert = ((property: fc.IRawProperty<unknown>, params?: fc.Parameters<unknown>) =>
  fc.assert(property, withTimes(params))) as typeof fc.assert;

export * from '../../node_modules/fast-check/lib/fast-check.js';
export { assert };
export default { ...fc, assert };
