import { setTimeout } from 'node:timers/promises';
import { agentConformance, expectReply, startTestHost } from 'sluice/testing';
import { describe, it, test } from 'vitest';
import extension, { type Answer, provider } from '../src/index.js';

test('it answers in a host', async () => {
  await using host = await startTestHost({
    extensions: [extension],
    defaultAgent: 'my-name',
  });
  expectReply(await host.say('hello'), 'You said: hello');
});

/** An answer that does by its prompt what the checks are about. */
const scripted: Answer = async function* ({ prompt, signal }) {
  yield 'Well, ';
  if (prompt === 'fail') throw new Error('the model is gone');
  if (prompt === 'wait') await setTimeout(60_000, undefined, { signal });
  yield 'yes.';
};

describe('the rules of an agent', () => {
  const make = () => ({
    provider: provider(scripted),
    text: 'hello',
    tool: false as const, // a prompt that makes it call one, if it has tools
    endless: 'wait',
    failure: 'fail',
  });
  for (const { name, run } of agentConformance(make, { complete: true })) it(name, run);
});
