import { describe, expect, it } from 'vitest';
import { errorOf, httpLab, saying, textOf } from './http-lab.js';

const history = '<chat_history>\nUSER: Which tea?\nASSISTANT: fine\n</chat_history>';
const inChat = { 'x-openwebui-chat-id': 'chat-1' };
const setting = { conversationHeader: 'x-openwebui-chat-id' };

/** The prompts of Open WebUI's tasks, in the shapes that they have. */
const tasks = {
  title: saying(`### Task:\nGenerate a title.\n### Chat History:\n${history}`, { stream: false }),
  tags: saying(`### Task:\r\nGenerate 1-3 tags.\n\n${history}\n`),
  'a search, with a system prompt': {
    ...{ model: 'sluice', stream: false },
    messages: [
      { role: 'system', content: 'You are kind.' },
      { role: 'user', content: `  ### Task:\nDetermine queries.\n${history}` },
    ],
  },
  'follow-ups, in parts': saying('', {
    messages: [{ role: 'user', content: [{ type: 'text', text: `### Task:\n${history}` }] }],
  }),
  'a completion': saying(`### Task:\nYou complete.\n### Context:\n${history}\n<text>Wh</text>`),
  'an emoji, which says what it is': saying('A face, please', {
    metadata: { task: 'emoji_generation' },
  }),
};

/** Texts that people write. */
const said = {
  'a task by hand': saying('### Task: write a poem about <chat_history>'),
  'a template after other messages': {
    model: 'sluice',
    messages: [
      { role: 'user', content: 'Which tea?' },
      { role: 'assistant', content: 'fine' },
      { role: 'user', content: `### Task:\n${history}` },
    ],
  },
  'a question about a template': saying(`Shorten this: ### Task:\n${history}`),
  'metadata of its own': saying('hello', { metadata: { task: 'homework', other: 1 } }),
  'metadata that is no object': saying('hello', { metadata: 'x' }),
};

describe('a task of a chat front end (http §2.8)', () => {
  it.each(Object.entries(tasks))('is no message of the person: %s', async (_, task) => {
    await using lab = await httpLab(setting);
    expect(await textOf(await lab.ask(saying('Which tea?'), inChat))).toBe('Which tea?');
    const refused = await lab.ask(task, inChat);
    expect([refused.status, (await errorOf(refused))['code']]).toEqual([400, 'front-end-task']);
    expect(await textOf(await lab.ask(saying('And coffee?'), inChat))).toBe('And coffee?');
    const transcript = JSON.stringify(await lab.test.transcript());
    expect(transcript).toContain('Which tea?');
    expect(transcript).toContain('And coffee?');
    expect(transcript).not.toContain('chat_history');
    expect(lab.test.ends).toHaveLength(2);
  });

  it.each(Object.entries(said))(
    'is not taken for one that a person writes: %s',
    async (_, body) => {
      await using lab = await httpLab(setting);
      expect((await lab.ask(body, inChat)).status).toBe(200);
    },
  );

  it('is done by the agent that the config names, in a conversation of its own', async () => {
    await using lab = await httpLab({ ...setting, tasks: { agent: 'main' } });
    await lab.ask(saying('Which tea?'), inChat);
    const answer = await lab.ask(tasks.title, inChat);
    expect(answer.headers.get('x-sluice-conversation')).toMatch(/^task-/);
    expect(await textOf(answer)).toContain('Generate a title.');
  });

  it('is a message if the config says so', async () => {
    await using lab = await httpLab({ ...setting, tasks: 'say' });
    const answer = await lab.ask(tasks.title, inChat);
    expect(answer.headers.get('x-sluice-conversation')).toBe('chat-1');
  });
});
