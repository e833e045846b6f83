import { expectDenied, expectReply, startTestHost } from 'sluice/testing';
import { test } from 'vitest';
import extension from '../src/index.js';

test('a message without a word of the list is answered', async () => {
  await using host = await startTestHost({ extensions: [extension] });
  expectReply(await host.say('hello'), 'hello');
});

test('a message with a word of the list is kept from the agent, and the sender is told', async () => {
  await using host = await startTestHost({ extensions: [extension] });
  const answer = await host.say('my Secret');
  expectDenied(answer, { code: 'policy', by: 'my-name/words' });
  expectReply(answer, 'I may not speak of that.');
});

test('the list is a setting', async () => {
  const tea = { extension, config: { words: ['tea'] } };
  await using host = await startTestHost({ extensions: [tea] });
  expectDenied(await host.say('Tea?'), { code: 'policy', by: 'my-name/words' });
});
