import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { allow, cancel, type Kernel } from '../../../src/kernel/internal.js';
import { fence } from '../../support/fences.js';
import { hostLab } from '../../support/host-lab.js';
import { outcomesOf } from '../../support/outcomes-of.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const at = { extensionId: 'limit', id: 'veto' } as const;
const reply = 'One question a minute, please.';

const limited = (kernel: Kernel) =>
  kernel.contribute({
    ...at,
    family: 'routing.resolving',
    class: 'veto',
    handler: ({ payload }) =>
      payload.message.content.startsWith('ok') ? allow() : cancel('rate-limited', { reply }),
  });

/** Cancels the answers that the words match, in whatever kind they come. */
const guarded = (kernel: Kernel) =>
  kernel.contribute({
    ...{ ...at, id: 'guard' },
    family: 'egress.preparing',
    class: 'veto',
    handler: ({ payload }) =>
      payload.content.includes('secret') ? cancel('unsafe', { reply: 'not that secret' }) : allow(),
  });

describe('the reply of a cancel goes to the sender of the message (§16.20)', () => {
  it('if routing.resolving is cancelled: after the outcome, under the id of the message, as kind cancel-reply', async () => {
    await using lab = await hostLab({ contribute: limited });
    const end = await lab.say('hello');
    expect(end).toMatchObject({ status: 'cancelled', sends: [{ status: 'sent', content: reply }] });
    expect(lab.texts()).toEqual([reply]);
    const [sent] = lab.of('egress.preparing');
    expect(sent?.event).toMatchObject({
      eventId: `${end.correlationId}:reply`,
      correlationId: end.correlationId,
      payload: { kind: 'cancel-reply', streaming: false },
    });
    const families = lab.families();
    expect(families.indexOf('routing.resolving')).toBeLessThan(
      families.indexOf('egress.preparing'),
    );
    expect(lab.of('transcript.message.writing')).toEqual([]);
  });

  it('if every reply is cancelled, and a cancel of the cancel reply has no reply: one at most', async () => {
    await using lab = await hostLab({ contribute: guarded });
    const end = await lab.say('tell me the secret');
    expect(end).toMatchObject({
      status: 'cancelled',
      sends: [{ status: 'cancelled' }, { status: 'cancelled', content: 'not that secret' }],
    });
    expect(lab.texts()).toEqual([]);
    expect(lab.of('egress.preparing').map(({ payload }) => payload.kind)).toEqual([
      'reply',
      'cancel-reply',
    ]);
    expect((await lab.say('hello')).status).toBe('answered');
  });

  it('once a minute for a conversation and a code; another conversation has its own', async () => {
    await using lab = await hostLab({ contribute: limited });
    await lab.say('one');
    expect(await lab.say('two')).toMatchObject({
      status: 'cancelled',
      reason: expect.stringMatching(/no reply: the conversation had a reply for "rate-limited"/),
      sends: [],
    });
    await lab.say({ text: 'three', conversation: 'bob' });
    expect(lab.texts()).toEqual([reply, reply]);
    await lab.clock.advance(60_000);
    await lab.say('four');
    expect(lab.texts()).toEqual([reply, reply, reply]);
  });

  it('not if the sender is a bot: two of them would never end', async () => {
    const message = {
      ...{ channel: 'scripted', accountId: 'default', from: 'scripted:robot', content: 'hello' },
      ...{ sender: { id: 'robot', isBot: true }, attachments: [], metadata: {} },
    };
    const channel = scriptedChannel({ decode: () => ({ kind: 'message', message }) });
    await using lab = await hostLab({ channel, contribute: limited });
    expect(await lab.say('hello')).toMatchObject({
      reason: expect.stringMatching(/no reply: its sender is a bot/),
      sends: [],
    });
  });

  it.each([true, false])('not for the press of a bot (a bot: %s)', async (isBot) => {
    const interaction = {
      interactionId: 'i-1',
      kind: 'button' as const,
      ...{ name: 'go', values: [], channel: 'scripted', accountId: 'default' },
      ...{ conversationId: 'scripted:ada', sender: { id: 'ada', isBot } },
    };
    const channel = scriptedChannel({ decode: () => ({ kind: 'interaction', interaction }) });
    await using lab = await hostLab({
      channel,
      contribute: (kernel) => {
        guarded(kernel);
        kernel.contribute({
          ...{ ...at, id: 'answer' },
          family: 'interaction.resolved',
          class: 'augmenter',
          handler: () => ({ replies: ['the secret'] }),
        });
      },
    });
    expect((await lab.say('pressed')).status).toBe('cancelled');
    expect(lab.texts()).toEqual([]);
    expect(lab.of('egress.preparing').map(({ payload }) => payload.kind)).toEqual(
      isBot ? ['reply'] : ['reply', 'cancel-reply'],
    );
  });

  it("in the operator's text, which wins; also if the veto has none", async () => {
    await using lab = await hostLab({
      cancelText: { 'rate-limited': 'Please wait.', blocked: 'No.' },
      contribute: (kernel) => {
        limited(kernel);
        kernel.contribute({
          ...{ ...at, id: 'first', priority: 1 },
          family: 'routing.resolving',
          class: 'veto',
          handler: ({ payload }) =>
            payload.message.content === 'blocked' ? cancel('blocked') : allow(),
        });
      },
    });
    await lab.say('hello');
    await lab.say('blocked');
    expect(lab.texts()).toEqual(['Please wait.', 'No.']);
  });

  it('not if the operator says false: the end of the message says so', async () => {
    await using lab = await hostLab({
      cancelText: { 'rate-limited': false },
      contribute: limited,
    });
    expect(await lab.say('hello')).toMatchObject({
      status: 'cancelled',
      reason: expect.stringMatching(/no reply: cancelText says so for "rate-limited"/),
      sends: [],
    });
  });

  it('not a second time if the message is handled again after a restart (durability §7.4)', async () => {
    const journal = memoryJournal();
    const eventId = 'u-again';
    const account = { channel: 'scripted', accountId: 'default' };
    const body = JSON.stringify({ text: 'hello' });
    await journal.accept({ eventId, ...account, receivedAtMs: 0, body });
    await journal.begin(eventId);
    const send = { sendId: `${eventId}:reply`, kind: 'cancel-reply', fingerprint: 'x', ...account };
    await journal.prepare(fence, { ...send, correlationId: eventId, body: '{"content":"Wait."}' });
    await journal.sending(fence, send.sendId);
    await journal.endSend(fence, send.sendId, { state: 'sent' });
    await using lab = await hostLab({ journal, contribute: limited });
    await lab.clock.advance(20_000);
    expect(lab.ends).toMatchObject([{ status: 'cancelled', sends: [{ content: 'Wait.' }] }]);
    expect(lab.texts()).toEqual([]);
  });

  it('holds in any order of messages: at most one for each message, and no loop', async () => {
    const said = fc.record({
      text: fc.constantFrom('ok', 'ok secret', 'no', 'no secret', '/help', '/nosuch secret'),
      conversation: fc.constantFrom('ada', 'bob'),
      waitMs: fc.constantFrom(0, 30_000, 60_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 12 }), async (all) => {
        await using lab = await hostLab({
          contribute: (kernel) => {
            limited(kernel);
            guarded(kernel);
          },
        });
        for (const { waitMs, ...one } of all) {
          await lab.say(one);
          await lab.clock.advance(waitMs);
        }
        const replies = outcomesOf(lab.outcomes, 'egress.preparing').filter(
          ({ payload }) => payload.kind === 'cancel-reply',
        );
        const messages = replies.map(({ event }) => event.correlationId);
        expect(new Set(messages).size).toBe(messages.length);
        expect(replies.length).toBeLessThanOrEqual(all.length);
        expect(lab.ends).toHaveLength(all.length);
      }),
      { numRuns: Number(process.env['CANCEL_REPLY_RUNS'] ?? 30) },
    );
  });
});
