import assert from 'node:assert/strict';
import { compareParity, openclawHookRunner, watchFetch, watchFolder } from 'sluice/testing';

const ctx = { sessionKey: 's1' };
const report = await compareParity({
  plugin: './plugins/acme', // or its register function; or `handlers`
  legacyRunner: await openclawHookRunner('./package'), // npm pack openclaw@2026.3.13, unpacked
  hook: 'before_model_resolve',
  event: { prompt: 'hi' },
  ctx,
  next: [{ hook: 'before_prompt_build', event: { prompt: 'hi', messages: [] }, ctx }],
  watch: { files: watchFolder('./state'), requests: watchFetch() },
  allow: ['answers-at-once-share-a-tick'],
});
assert.deepEqual(report.differences, []);
