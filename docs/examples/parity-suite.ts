import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openclawHookRunner, paritySuite } from 'sluice/testing';

const trim = ({ content }: { content: string }) => ({ content: content.trim() });
const checks = paritySuite({
  recording: JSON.parse(readFileSync('recording.json', 'utf8')),
  runners: [await openclawHookRunner('./package')], // and another one, by default Sluice's own
  handlers: () => [{ hook: 'message_sending', pluginId: 'acme', handler: trim }],
  known: { 'a cancel is final here': ({ path }) => path === 'result.cancel' },
});
for (const { name, run } of checks) test(name, run);
