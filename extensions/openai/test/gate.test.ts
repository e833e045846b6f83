import { ask, cancel, defineExtension, type ExtensionApi } from 'sluice';
import { describe, expect, it, vi } from 'vitest';
import { agentLab, weather } from './agent-lab.js';
import { calls, says } from './model-server.js';

const rome = calls(['weather', { city: 'Rome' }]);

/** The answer of a call of `weather` as the model gets it, with handlers of an extension. */
async function shownWith(contribute: (api: ExtensionApi) => void) {
  const ran: unknown[] = [];
  const extension = defineExtension({
    id: 'test',
    setup(api) {
      const execute = (args: object) => {
        ran.push(args);
        return weather.execute({ ...args }, undefined as never); // it reads no use
      };
      api.provide('tool', { ...weather, execute });
      contribute(api);
    },
  });
  await using lab = await agentLab([rome, says('Done.')], {}, { extensions: [extension] });
  const end = await lab.test.say('weather?');
  const [, , result] = lab.asked[1]?.body.messages ?? [];
  return { ran, result, status: end.status, transcript: await lab.test.transcript() };
}

describe('a tool call of the model passes agent.tool.calling before it runs (enforce)', () => {
  it('and runs as it was asked if nobody objects', async () => {
    const { ran, result } = await shownWith(() => undefined);
    expect(ran).toEqual([{ city: 'Rome' }]);
    expect(result).toEqual({ role: 'tool', tool_call_id: 'call-0', content: 'sunny in Rome' });
  });

  it('and does not run after a veto, whose reason the model gets', async () => {
    const { ran, result } = await shownWith((api) =>
      api.veto('agent.tool.calling', 'no', () => cancel('policy', { text: 'Ask me tomorrow.' })),
    );
    expect(ran).toEqual([]);
    expect(result).toMatchObject({ content: expect.stringContaining('Ask me tomorrow.') });
  });

  it('and runs with the arguments that a mutator gives it', async () => {
    const { ran, result } = await shownWith((api) =>
      api.mutate('agent.tool.calling', 'oslo', () => ({ params: { city: 'Oslo' } })),
    );
    expect(ran).toEqual([{ city: 'Oslo' }]);
    expect(result).toMatchObject({ content: 'sunny in Oslo' });
  });

  it('and waits for a human who is asked', async () => {
    const extension = defineExtension({
      id: 'test',
      setup(api) {
        api.provide('tool', weather);
        api.veto('agent.tool.calling', 'ask', () => ask({ title: 'Look at the sky?' }));
      },
    });
    const roles = { owner: ['fake:ada'] };
    await using lab = await agentLab([rome, says('Done.')], {}, { extensions: [extension], roles });
    const said = lab.test.say('weather?');
    await vi.waitFor(() => expect(lab.test.replies()[0]).toContain('Look at the sky?'), 60_000);
    expect(lab.asked).toHaveLength(1);
    const [, id] = /\/approve (\w+)/.exec(lab.test.replies()[0] ?? '') ?? [];
    await lab.test.say(`/approve ${id}`);
    expect(await said).toMatchObject({ status: 'answered' });
    expect(lab.asked[1]?.body.messages.at(-1)).toMatchObject({ content: 'sunny in Rome' });
  });
});

describe('a call that cannot run', () => {
  it('is judged as any other, and is not told as one that has run unjudged', async () => {
    const judge = defineExtension({
      id: 'judge',
      setup: (api) =>
        api.veto('agent.tool.calling', 'a', ({ payload }) =>
          payload.toolName === 'wether' ? cancel('policy', { text: 'never' }) : undefined,
        ),
    });
    const wrong = calls(['wether', {}], ['other', '{']);
    await using lab = await agentLab([wrong, says('Done.')], {}, { extensions: [judge] });
    await lab.test.say('weather?');
    const judged = lab.test.of('agent.tool.calling');
    expect(judged.map(({ status, failures }) => [status, failures])).toEqual([
      ['cancelled', []],
      ['passed', []],
    ]);
    expect(lab.asked[1]?.body.messages.slice(-2)).toMatchObject([
      { content: expect.stringContaining('never') },
      { content: expect.stringContaining('no JSON object') },
    ]);
  });
});

describe('the result of a tool passes the transcript stages before the model sees it', () => {
  it('as transcript.tool-result.persisting has changed it', async () => {
    const { result } = await shownWith((api) =>
      api.mutate('transcript.tool-result.persisting', 'hide', ({ payload: { message } }) => ({
        message: { ...message, content: [{ type: 'text', text: '[hidden]' }] },
      })),
    );
    expect(result).toMatchObject({ content: '[hidden]' });
  });

  it('and one that is kept out of the transcript is kept from the model', async () => {
    const { result, transcript } = await shownWith((api) =>
      api.veto('transcript.message.writing', 'none', ({ payload: { message } }) =>
        message.role === 'toolResult' ? cancel('policy') : undefined,
      ),
    );
    expect(result).toMatchObject({ content: '[no result of this call is known: it may have run]' });
    expect(JSON.stringify(transcript)).not.toContain('sunny');
  });
});
