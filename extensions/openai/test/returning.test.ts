import { allow, cancel, defineExtension, type ExtensionApi } from 'sluice';
import { describe, expect, it } from 'vitest';
import { agentLab, weather } from './agent-lab.js';
import { type Answer, calls, fails, part, parts, says } from './model-server.js';

const secret = 'sk-live-4711';
const clean = (text: string): string => text.replaceAll(secret, '[key]');

/** A model that says and thinks a secret, and calls a tool with it. */
const leaks: Answer = parts(
  { role: 'assistant', reasoning_content: `It is ${secret}` },
  { content: `The key: ${secret}` },
  {
    tool_calls: [
      {
        index: 0,
        id: 'c',
        function: { name: 'weather', arguments: JSON.stringify({ city: secret }) },
      },
    ],
  },
  part({}, 'tool_calls'),
);

function guard(contribute: (api: ExtensionApi) => unknown, ran: unknown[] = []) {
  return defineExtension({
    id: 'guard',
    setup(api) {
      api.provide('tool', {
        ...weather,
        execute: (args, use) => {
          ran.push(args);
          return weather.execute(args, use);
        },
      });
      contribute(api);
    },
  });
}

describe('an answer of the model, before anybody reads it (event-pipeline §16.32)', () => {
  it('is used as a handler has cleaned it: by tools, by the model and by people', async () => {
    const ran: unknown[] = [];
    const extension = guard(
      (api) =>
        api.mutate('agent.llm.returning', 'clean', { failClosed: true }, ({ payload }) => ({
          text: clean(payload.text),
          thinking: clean(payload.thinking ?? ''),
          calls: payload.calls.map((call) => ({ ...call, params: { city: 'Rome' } })),
        })),
      ran,
    );
    await using lab = await agentLab(
      [leaks, says(`Not ${secret}.`)],
      {},
      { extensions: [extension] },
    );
    expect(await lab.test.say('hello')).toMatchObject({ status: 'answered' });
    expect(ran).toEqual([{ city: 'Rome' }]);
    expect(lab.test.replies()).toEqual(['The key: [key]', 'Not [key].']);
    expect(JSON.stringify(lab.asked.map(({ body }) => body))).not.toContain(secret);
  });

  it('ends the turn if a veto keeps it back: no tool runs, and the model is not asked again', async () => {
    const ran: unknown[] = [];
    const extension = guard(
      (api) =>
        api.veto('agent.llm.returning', 'stop', { failClosed: true }, ({ payload }) =>
          payload.text.includes(secret) ? cancel('unsafe', { reply: 'It held a key.' }) : allow(),
        ),
      ran,
    );
    await using lab = await agentLab([leaks, says('Well.')], {}, { extensions: [extension] });
    expect(await lab.test.say('hello')).toMatchObject({ status: 'cancelled' });
    expect(lab.asked).toHaveLength(1);
    expect(ran).toEqual([]);
    expect(lab.test.replies()).toEqual(['It held a key.']);
    await lab.test.say('and?');
    expect(lab.asked[1]?.body.messages.map(({ content }) => content)).toEqual([
      ...['hello', '[withheld: unsafe]', 'and?'],
    ]);
  });

  it('tells nobody of arguments that cannot be read: a call has none that were judged', async () => {
    const extension = guard((api) =>
      api.mutate('agent.llm.returning', 'none', ({ payload }) => ({ text: clean(payload.text) })),
    );
    const broken = parts({ content: secret }, part({}, 'stop'));
    const wrong = calls(['weather', `{"city": "${secret}`]);
    await using lab = await agentLab([wrong, broken], {}, { extensions: [extension] });
    await lab.test.say('hello');
    const asked = JSON.stringify(lab.asked.map(({ body }) => body));
    expect(asked).toContain('its arguments are no JSON object');
    expect(asked).not.toContain(secret);
    expect(lab.test.replies()).toEqual(['[key]']);
  });

  it('is judged if it sums a conversation up: one that is kept back is left out, and the turn goes on', async () => {
    const sums: Answer = (response, asked) =>
      says(
        JSON.stringify(asked.body.messages).includes('Summarize') ? secret : 'well '.repeat(300),
      )(response, asked);
    for (const kept of [false, true]) {
      const extension = guard((api) => {
        if (kept)
          api.mutate('agent.llm.returning', 'clean', ({ payload }) => ({
            text: clean(payload.text),
          }));
        else
          api.veto('agent.llm.returning', 'stop', ({ payload }) =>
            payload.text.includes(secret) ? cancel('unsafe') : undefined,
          );
      });
      const small = { agent: { contextTokens: 2_000 } };
      await using lab = await agentLab([sums], small, { extensions: [extension] });
      for (const word of ['one', 'two', 'three', 'four'])
        expect(await lab.test.say(`${word} `.repeat(300))).toMatchObject({ status: 'answered' });
      const asked = JSON.stringify(lab.asked.map(({ body }) => body));
      expect(asked).not.toContain(secret);
      expect(asked.includes('[key]')).toBe(kept);
      expect(lab.test.of('agent.llm.calling').length).toBe(lab.asked.length);
    }
  });
});

describe('a call of the model (event-pipeline §16.33)', () => {
  it('is asked about each time: a veto ends the loop of tools', async () => {
    const extension = guard((api) =>
      api.veto('agent.llm.calling', 'two', ({ payload: { call = 1 } }) =>
        call > 2 ? cancel('budget-exceeded', { reply: 'Enough.' }) : undefined,
      ),
    );
    const again = calls(['weather', { city: 'Rome' }]);
    await using lab = await agentLab([again], {}, { extensions: [extension] });
    expect(await lab.test.say('hello')).toMatchObject({ status: 'cancelled' });
    expect(lab.asked).toHaveLength(2);
    expect(lab.test.replies()).toEqual(['Enough.']);
  });

  it('that would sum the conversation up is no exception: a veto of it ends the turn', async () => {
    const extension = guard((api) =>
      api.veto('agent.llm.calling', 'two', ({ payload: { call = 1 } }) =>
        call === 2 ? cancel('budget-exceeded', { reply: 'Enough.' }) : undefined,
      ),
    );
    const full = fails(400, { message: 'exceeds the available context size' });
    const answers = [says('Well.'), full, says('Never.')];
    await using lab = await agentLab(answers, {}, { extensions: [extension] });
    await lab.test.say('hello');
    expect(await lab.test.say('and?')).toMatchObject({ status: 'cancelled' });
    expect(lab.asked).toHaveLength(2);
    expect(lab.test.replies()).toEqual(['Well.', 'Enough.']);
    expect(lab.test.of('compaction.before')).toEqual([]);
  });
});
