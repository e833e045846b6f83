import { contenderNamed } from './contenders/index.mjs';
import { tally } from './handlers.mjs';
import { freshPayload } from './payload.mjs';
import { build, readResult, scenarios } from './scenarios.mjs';

/**
 * Runs one dispatch of a scenario, and says what came of it and what the handlers did. Every contender must say
 * the same: the benchmark checks it before it measures, and a test checks it without measuring.
 */
export async function runOnce(scenarioId, contenderName, loadKernel) {
  const one = scenarios.find(({ id }) => id === scenarioId);
  if (one === undefined) throw new Error(`no scenario is called "${scenarioId}"`);
  const dispatch = build(await contenderNamed(contenderName, loadKernel), one);
  return workOf(one, dispatch);
}

/** One dispatch, and the work it did. */
export async function workOf(one, dispatch) {
  tally.calls = 0;
  tally.chars = 0;
  const result = await dispatch(freshPayload());
  return { calls: tally.calls, chars: tally.chars, ...readResult(one, result) };
}
