import { expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import type { AgentRequest } from '../../../src/sdk/stream/index.js';
import { batchLab, withinMs } from '../../support/batch-lab.js';
import { hostLab } from '../../support/host-lab.js';
import { outcomesOf } from '../../support/outcomes-of.js';

const replyTo = { messageId: 'm-0', content: 'Second: call Bob.', isQuote: true };

/** A lab whose agent keeps what it was asked, with the history that it got. */
async function asked(contribute?: Parameters<typeof hostLab>[0]) {
  const requests: { prompt: string; history: AgentRequest['history'] }[] = [];
  const lab = await hostLab({
    ...contribute,
    agents: [
      {
        id: 'main',
        provider: {
          id: 'noting',
          models: ['m'],
          toolGate: 'enforce',
          async *run({ prompt, history }) {
            requests.push({ prompt, history });
            const content = [{ type: 'text', text: 'ok' }] as const;
            yield { type: 'message_end', message: { role: 'assistant', content } };
            yield { type: 'agent_end', messages: [] };
          },
        },
      },
    ],
  });
  return { lab, requests };
}

it('what is replied to reaches the agent, the handlers and later turns; the transcript keeps the words (§15.13)', async () => {
  const { lab, requests } = await asked();
  await using _lab = lab;
  await lab.say({ text: 'expand on this', message: { messageId: 'm-1', replyTo } });
  await lab.say('and now?');
  const [first, second] = requests;
  expect(first?.prompt).toMatch(
    /^<message_context>\n.+\n> Second: call Bob\.\n<\/message_context>\n\nexpand on this$/s,
  );
  expect(second?.prompt).toBe('and now?');
  expect(second?.history[0]?.content).toBe(first?.prompt);
  const [building] = lab.of('agent.prompt.building');
  expect(building?.event.payload).toMatchObject({
    ...{ prompt: 'expand on this', messageId: 'm-1', replyTo },
    sender: { id: 'ada' },
  });
  const [written] = outcomesOf(lab.outcomes, 'transcript.message.writing');
  expect(JSON.stringify(written)).toContain('"content":"expand on this"');
  for (const family of ['agent.starting', 'agent.model.resolving'] as const)
    expect(lab.of(family)[0]?.event.payload).toMatchObject({ prompt: 'expand on this' });
});

it('the agent `echo` says the words alone; `echo-full` says all that a model would read (§15.13)', async () => {
  for (const [model, said] of [
    ['echo', /^expand on this$/],
    ['echo-full', /> Second: call Bob\..*\n\nexpand on this$/s],
  ] as const) {
    const agent = { id: 'main', provider: echoProvider(), model };
    await using lab = await hostLab({ agents: [agent] });
    await lab.say({ text: 'expand on this', message: { replyTo, isGroup: true } });
    expect(lab.texts()[0]).toMatch(said);
  }
});

it('a message in private with nothing around it reaches the agent as it is, and keeps no more (§15.13)', async () => {
  const { lab, requests } = await asked();
  await using _lab = lab;
  await lab.say('hello');
  expect(requests).toMatchObject([{ prompt: 'hello' }]);
  expect(JSON.stringify(lab.outcomes)).not.toContain('surroundings');
});

it('a message of media alone in a group is told with its speaker alone (§15.13)', async () => {
  const { lab, requests } = await asked();
  await using _lab = lab;
  await lab.say({ text: '', message: { isGroup: true, channelName: 'Friends' } });
  expect(requests[0]?.prompt).toMatch(
    /Written by [^\n]*ada[^\n]*"Friends"\.\n<\/message_context>$/,
  );
});

it.each<[string, object, string]>([
  ['its content', { content: 'my card is ***' }, 'my card is ***'],
  ['its transcript', { transcript: 'said aloud' }, 'my card is 123\n\nsaid aloud'],
  ['its text for models', { content: 'x', promptText: 'y' }, 'y'],
  ['nothing', {}, 'my card is **123**'],
])(
  'if a handler changes %s, no text for models stays that was made of other words (§15.13)',
  async (_, patch, expected) => {
    const { lab, requests } = await asked({
      contribute: (kernel) =>
        void kernel.contribute({
          ...{ extensionId: 'acme', id: 'redact', family: 'ingress.normalized' },
          class: 'mutator',
          handler: () => patch,
        }),
    });
    await using _lab = lab;
    await lab.say({ text: 'my card is 123', message: { promptText: 'my card is **123**' } });
    expect(requests[0]?.prompt).toBe(expected);
  },
);

it('of messages that join, each that is forwarded is told with its own origin, and a comment is not (§15.13, durability §10)', async () => {
  await using lab = await batchLab();
  const forwardedFrom = { channelName: 'News' };
  await lab.tell('what do you think?');
  await lab.tell({ text: 'The shop closes.', message: { forwardedFrom } });
  await lab.pass(withinMs);
  expect(lab.prompts).toHaveLength(1);
  expect(lab.prompts[0]).toContain('Shares: message "forwarded" of "News":\n> The shop closes.\n');
  expect(lab.prompts[0]).not.toContain('Forwarded from');
  await lab.tell({ text: 'one', message: { forwardedFrom } });
  await lab.tell({ text: 'two', message: { forwardedFrom: { sender: { name: 'Bo' } } } });
  await lab.pass(withinMs);
  expect(lab.prompts[1]).toMatch(/ of "News":\n> one\n.* of "Bo":\n> two\n/);
  expect(lab.prompts[1]).not.toContain('Forwarded from');
});
