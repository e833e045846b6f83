import OpenAI, { APIError } from 'openai';
import { cancel, defineExtension } from 'sluice';
import { scriptedAgent } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { httpLab, steppedAgent } from './http-lab.js';

const clientOf = ({ url }: { readonly url: string }, more: object = {}): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'unneeded', maxRetries: 0, ...more });

const hello = {
  model: 'sluice',
  messages: [{ role: 'user' as const, content: 'hello there' }],
};

/** A veto that cancels each reply, or each final of one that may be shown before. */
const refusing = (preview?: 'ok') =>
  defineExtension({
    id: 'guard',
    setup: (api) =>
      api.veto(
        'egress.preparing',
        'all',
        preview === undefined ? {} : { preview },
        ({ payload }) =>
          payload.streaming ? undefined : cancel('unsafe', { text: 'it is unsafe' }),
      ),
  });

describe('the unmodified client of OpenAI', () => {
  it('lists the models (http §1.2)', async () => {
    await using lab = await httpLab({ models: { main: {}, research: { agent: 'research' } } });
    const { data } = await clientOf(lab).models.list();
    expect(data.map(({ id }) => id)).toEqual(['main', 'research']);
  });

  it('gets a whole answer (http §3.1)', async () => {
    await using lab = await httpLab();
    const answer = await clientOf(lab).chat.completions.create(hello);
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'sluice' });
    expect(answer.choices).toMatchObject([
      { message: { role: 'assistant', content: 'hello there' }, finish_reason: 'stop' },
    ]);
  });

  it('sees an answer grow (http §3.2)', async () => {
    const agent = steppedAgent(['One ', 'two ', 'three.']);
    await using lab = await httpLab({}, { agents: [{ id: 'main', provider: agent.provider }] });
    const asked = clientOf(lab).chat.completions.create({ ...hello, stream: true });
    await agent.begun;
    agent.step();
    const seen: string[] = [];
    for await (const { choices } of await asked) {
      seen.push(choices[0]?.delta.content ?? `(${choices[0]?.finish_reason})`);
      agent.step();
    }
    expect(seen.join('')).toBe('One two three.(stop)');
    expect(seen.length).toBeGreaterThan(2);
  });

  it('gets reasoning in a field of its own, whole and streamed (http §3.4)', async () => {
    const agent = scriptedAgent([[{ thinking: 'Hm, so.' }, 'Tea.']]);
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent }], replies: { reasoningMode: 'stream' } },
    );
    const { choices } = await clientOf(lab).chat.completions.create(hello);
    expect(choices[0]?.message).toEqual({
      ...{ role: 'assistant', content: 'Tea.' },
      reasoning_content: expect.stringContaining('Hm, so.'),
    });
    const seen = { reasoning_content: '', content: '' };
    for await (const { choices } of await clientOf(lab).chat.completions.create({
      ...hello,
      stream: true,
    })) {
      const { content = '', reasoning_content = '' } = Object(choices[0]?.delta);
      seen.content += content;
      seen.reasoning_content += reasoning_content;
    }
    expect(seen).toEqual({
      content: 'Tea.',
      reasoning_content: expect.stringContaining('Hm, so.'),
    });
  });

  it.each([false, true])(
    'learns of a cancel at egress as an error with its code; streamed: %s (http §4.2)',
    async (stream) => {
      await using lab = await httpLab({}, { extensions: [refusing()] });
      const asked = clientOf(lab).chat.completions.create({ ...hello, stream });
      await expect(asked).rejects.toMatchObject({ status: 403, code: 'unsafe' });
      await expect(asked).rejects.toBeInstanceOf(APIError);
    },
  );

  it('learns of a cancel after parts were shown (http §3.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [refusing('ok')] },
    );
    const asked = clientOf(lab).chat.completions.create({ ...hello, stream: true });
    await agent.begun;
    agent.step();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { choices } of await asked) {
        seen.push(choices[0]?.delta.content ?? '');
        agent.step();
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'unsafe' });
    expect(seen.join('')).toMatch(/^One /);
  });

  it('sees nothing before the end if a handler has to see the whole (http §3.3)', async () => {
    const agent = steppedAgent(['One ', 'two.']);
    const shout = defineExtension({
      id: 'shout',
      setup: (api) =>
        api.mutate('egress.preparing', 'loud', ({ payload }) => ({
          content: payload.content.toUpperCase(),
        })),
    });
    await using lab = await httpLab(
      {},
      { agents: [{ id: 'main', provider: agent.provider }], extensions: [shout] },
    );
    const asked = clientOf(lab).chat.completions.create({ ...hello, stream: true });
    await agent.begun;
    agent.step();
    const stepping = setInterval(agent.step, 1);
    const seen: string[] = [];
    for await (const { choices } of await asked) seen.push(choices[0]?.delta.content ?? '');
    clearInterval(stepping);
    expect(seen).toEqual(['ONE TWO.', '']);
  });

  it.each([
    ['tools of its own', { tools: [{ type: 'function', function: { name: 'x' } }] }, 400],
    ['two answers', { n: 2 }, 400],
    ['JSON', { response_format: { type: 'json_object' } }, 400],
    ['a model that is not there', { model: 'gpt-5' }, 404],
  ])('is refused %s (http §2.6)', async (_, more, status) => {
    await using lab = await httpLab();
    const asked = clientOf(lab).chat.completions.create({ ...hello, ...more } as typeof hello);
    await expect(asked).rejects.toMatchObject({ status });
    await asked.catch((error: APIError) =>
      expect(error.code).toMatch(/undecodable|model_not_found/),
    );
  });
});
