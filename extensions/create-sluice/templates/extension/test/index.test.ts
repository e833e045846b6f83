import { expectCancelled, expectReply, loadForTest, startTestHost } from 'sluice/testing';
import { expect, test } from 'vitest';
import extension from '../src/index.js';

test('a reply without a word of the list goes out', async () => {
  await using host = await startTestHost({ extensions: [extension] });
  expectReply(await host.say('hello'), 'hello');
});

test('a reply with a word of the list is kept back, and the sender is told', async () => {
  await using host = await startTestHost({ extensions: [extension] });
  await host.say('my Secret');
  expect(host.replies()).toEqual(['I may not say that.']);
});

test('the list is a setting', async () => {
  await using loaded = await loadForTest(extension, { config: { words: ['tea'] } });
  expectCancelled(await loaded.dispatch('egress.preparing', { content: 'Tea?', explicit: true }), {
    code: 'policy',
    by: 'my-name/words',
  });
});
