import { expectCancelled, expectPassed } from 'sluice/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { maxMentions } from '../src/recent-mentions.js';
import { ownershipLab } from './ownership-lab.js';
import { owned } from './scripted-service.js';

const ttlMs = 300_000;

afterEach(() => vi.unstubAllEnvs());

describe('a mention in a thread', () => {
  it.each([
    'hey @TestBot',
    '@TestBot, look',
    '(@TestBot)',
    '@TestBot.',
    "@TestBot's turn",
    '@TestBot - you?',
    '@TestBotany or @TestBot',
    'ask <@U999>',
    'ask <@U999|testbot>',
  ])('lets the agent answer there unasked: %s', async (content) => {
    vi.stubEnv('SLACK_BOT_USER_ID', 'U999');
    await using lab = await ownershipLab({ answer: owned });
    await lab.hear(content);
    expectPassed(await lab.send());
    expect(lab.asked()).toEqual([]);
  });

  it.each([
    '@testbot', // it has its case
    'TestBot',
    '@TestBotany', // mentions are whole
    '@TestBot2',
    '@TestBot-2',
    '@TestBot.dev',
    '@TestBotä',
    'ada@TestBot',
    'ä@TestBot',
    '<@U9991>',
    '@',
  ])('is not made by %s', async (content) => {
    vi.stubEnv('SLACK_BOT_USER_ID', 'U999');
    await using lab = await ownershipLab({ answer: owned });
    await lab.hear(content);
    expectCancelled(await lab.send());
  });

  it('counts where its channel says so', async () => {
    await using lab = await ownershipLab({ answer: owned });
    await lab.hear('hello', { wasMentioned: true });
    expectPassed(await lab.send());
  });

  it('is made by what was written, whatever others make of it', async () => {
    await using lab = await ownershipLab({ answer: owned });
    lab.test.kernel.contribute({
      family: 'ingress.normalized',
      class: 'mutator',
      extensionId: 'rewrite',
      id: 'rewrite',
      priority: 1,
      handler: ({ payload }) => ({ content: payload.threadId === '1' ? 'hello' : '@TestBot' }),
    });
    await lab.hear('@TestBot', { threadId: '1' });
    await lab.hear('hello', { threadId: '2' });
    expectPassed(await lab.send({ threadId: '1' }));
    expectCancelled(await lab.send({ threadId: '2' }));
  });

  it('counts for its thread alone', async () => {
    await using lab = await ownershipLab({ answer: owned, channels: ['slack', 'discord'] });
    await lab.hear('@TestBot');
    expectCancelled(await lab.send({ threadId: '9.9' }));
    expectCancelled(await lab.send({ conversationId: 'C2' }));
    expectCancelled(await lab.send({ channel: 'discord' }));
    expectPassed(await lab.send());
  });

  it('is not mixed up with one whose ids join to the same text', async () => {
    await using lab = await ownershipLab({ answer: owned });
    await lab.hear('@TestBot', { conversationId: 'a', threadId: 'b:c' });
    expectCancelled(await lab.send({ conversationId: 'a:b', threadId: 'c' }));
  });

  it('counts for the agent that it names alone', async () => {
    const agents = [
      { id: 'one', name: 'One' },
      { id: 'two', name: 'Two', botUserId: 'U2' },
    ];
    await using lab = await ownershipLab({ answer: owned, agents });
    await lab.hear('<@U2>, please');
    expectCancelled(await lab.send({}, { agentId: 'one' }));
    expectPassed(await lab.send({}, { agentId: 'two' }));
  });

  it('is not heard on other channels, and not outside of a thread', async () => {
    await using lab = await ownershipLab({ answer: owned });
    await lab.hear('@TestBot', { channel: 'discord' });
    await lab.hear('@TestBot', { threadId: '' });
    expectCancelled(await lab.send());
  });

  it('counts for exactly its time, and not a millisecond more (fault 45)', async () => {
    await using lab = await ownershipLab({ answer: owned });
    await lab.hear('@TestBot');
    await lab.test.clock.advance(ttlMs);
    expectPassed(await lab.send());
    await lab.test.clock.advance(1);
    expectCancelled(await lab.send());
  });

  it('lasts longer where it is repeated, and as long as the configuration says', async () => {
    await using lab = await ownershipLab({ answer: owned, mentionTtlMs: 1_000 });
    await lab.hear('@TestBot');
    await lab.test.clock.advance(600);
    await lab.hear('@TestBot');
    await lab.test.clock.advance(1_000);
    expectPassed(await lab.send());
    await lab.test.clock.advance(1);
    expectCancelled(await lab.send());
  });

  it('is forgotten, the oldest first, where there are more than can be kept (fault 45)', async () => {
    await using lab = await ownershipLab({ answer: owned });
    for (let at = 0; at <= maxMentions; at++) await lab.hear('@TestBot', { threadId: at });
    expectCancelled(await lab.send({ threadId: 0 }));
    expectPassed(await lab.send({ threadId: 1 }));
    expectPassed(await lab.send({ threadId: maxMentions }));
  });

  it('in one kernel is unknown in another', async () => {
    await using one = await ownershipLab({ answer: owned });
    await using two = await ownershipLab({ answer: owned });
    await one.hear('@TestBot');
    expectPassed(await one.send());
    expectCancelled(await two.send());
  });
});
