import { allow, defineExtension } from 'sluice';
import type { ExtensionApi, Question, QuestionEnd } from 'sluice/extension';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { errorOf, eventsIn, httpLab, saying, steppedAgent, textOf } from './http-lab.js';

/** An extension that asks the conversation of each message, before the agent has it. */
function asker() {
  const ends: QuestionEnd[] = [];
  const extension = defineExtension({
    id: 'asker',
    setup(api: ExtensionApi) {
      const size: Question = api.question('size', (end) => void ends.push(end));
      api.augment('agent.starting', 'ask', async ({ event }) => {
        const { conversationRef, accountRef } = event;
        const to = String(conversationRef?.id);
        const options = ['Small', { id: 'xl', label: 'Very large' }];
        await size.ask(
          { channel: 'http', accountId: String(accountRef?.id), to },
          { content: 'Which?', options },
        );
        return {};
      });
      api.veto('egress.preparing', 'all', () => allow());
    },
  });
  return { extension, ends };
}

describe('the buttons of a question', () => {
  const named = { 'x-sluice-conversation': 'tea', 'idempotency-key': 'k1' };

  it('are lines with numbers in the text, and data beside it, whole and streamed (http §8.1)', async () => {
    const { extension } = asker();
    const agent = steppedAgent(['Cup.']);
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [extension] },
    );
    const whole = lab.ask(saying('hi'), named);
    const streamed = lab.ask(saying('hi', { stream: true }), named);
    await agent.begun;
    agent.step();
    const answer = (await (await whole).json()) as {
      readonly choices: readonly { readonly message: { readonly content: string } }[];
      readonly sluice: {
        readonly questions: readonly (readonly { readonly id: string; readonly label: string }[])[];
      };
    };
    expect(answer.choices[0]?.message.content).toContain('Which?\n\n1) Small\n2) Very large');
    expect(answer.sluice.questions.map((one) => one.map(({ label }) => label))).toEqual([
      ['Small', 'Very large'],
    ]);
    const events = eventsIn(await (await streamed).text());
    expect(events).toContainEqual(expect.objectContaining({ sluice: answer.sluice }));
  });

  it('are pressed at /v1/presses, in the conversation of their person (http §8.2)', async () => {
    const { extension, ends } = asker();
    const agent = steppedAgent(['Cup.']);
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [extension] },
    );
    const asked = lab.ask(saying('hi'), named);
    await agent.begun;
    const press = (body: unknown, conversation = 'tea') =>
      fetch(`${lab.url}/v1/presses`, {
        method: 'POST',
        headers: { 'x-sluice-conversation': conversation },
        body: JSON.stringify(body),
      });
    const { payload } =
      lab.test.of('egress.preparing').find(({ payload }) => payload.interactive) ?? {};
    const button = payload?.interactive?.buttons?.[1]?.id;
    expect((await press({ button }, 'other')).status).toBe(202); // another conversation: it changes nothing
    expect((await press({ button })).status).toBe(202);
    await expect
      .poll(() => ends.map((end) => end.status === 'answered' && end.answer))
      .toEqual(['xl']);
    agent.step();
    await asked;
  });

  it('are pressed, and a message is said, by the header of the page beside that of the config (http §2.3, http §8.2)', async () => {
    await using lab = await httpLab({ conversationHeader: 'x-chat' });
    const of = async (headers: Record<string, string>) =>
      (await lab.ask(saying('hi'), headers)).headers.get('x-sluice-conversation');
    expect(await of({ 'x-sluice-conversation': 'tea' })).toBe('tea');
    expect(await of({ 'x-sluice-conversation': 'tea', 'x-chat': 'cup' })).toBe('cup');
    const headers = { 'x-sluice-conversation': 'tea' };
    const body = '{ "button": "x" }';
    const answer = await fetch(`${lab.url}/v1/presses`, { method: 'POST', headers, body });
    expect(answer.status).toBe(202);
  });

  it.each([
    ['no object', '"x"'],
    ['no button', '{}'],
    ['another field', '{ "button": "x", "more": 1 }'],
  ])('a press with %s is refused by name (http §8.2)', async (_, body) => {
    await using lab = await httpLab();
    const headers = { 'x-sluice-conversation': 'tea' };
    const answer = await fetch(`${lab.url}/v1/presses`, { method: 'POST', headers, body });
    expect([answer.status, await errorOf(answer)]).toEqual([
      400,
      expect.objectContaining({ code: 'bad-press' }),
    ]);
  });

  it('a press without a conversation, or without a key, is refused (http §8.2)', async () => {
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: scriptedAgent([['Hi.']]) }] },
    );
    const answer = await fetch(`${lab.url}/v1/presses`, {
      method: 'POST',
      body: '{ "button": "x" }',
    });
    expect((await errorOf(answer))['code']).toBe('bad-header');
    expect(await textOf(await lab.ask(saying('hi')))).toBe('Hi.');
    await using keyed = await httpLab({ keys: [{ name: 'ada', sha256: '0'.repeat(64) }] });
    expect((await fetch(`${keyed.url}/v1/presses`, { method: 'POST', body: '{}' })).status).toBe(
      401,
    );
    expect((await fetch(`${keyed.url}/v1/presses`)).status).toBe(405);
  });
});
