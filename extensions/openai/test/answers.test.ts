import { LLMock } from '@copilotkit/aimock';
import { defineExtension } from 'sluice';
import { startTestHost } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import openai from '../src/index.js';
import { weather } from './agent-lab.js';

const weatherman = defineExtension({
  id: 'weatherman',
  setup: (api) => api.provide('tool', weather),
});

/** A host with an agent whose model is aimock. */
async function mocked(script: (mock: LLMock) => void) {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  script(mock);
  await mock.start();
  const agents = [{ id: 'it', model: 'gpt-5', url: `${mock.url}/v1`, apiKey: 'k-1' }];
  const test = await startTestHost({
    defaultAgentId: 'it',
    extensions: [{ extension: openai, config: { agents } }, weatherman],
  });
  return {
    ...{ test, mock },
    [Symbol.asyncDispose]: async () => {
      await test[Symbol.asyncDispose]();
      await mock.stop();
    },
  };
}

describe('an agent of a model behind chat completions', () => {
  it('answers with the text that the model streams', async () => {
    await using lab = await mocked((mock) =>
      mock.onMessage('hello', {
        content: 'Good morning to you, and to all who read this answer with you.',
      }),
    );
    expect(await lab.test.say('hello')).toMatchObject({ status: 'answered' });
    expect(lab.test.replies()).toEqual([
      'Good morning to you, and to all who read this answer with you.',
    ]);
    const deltas = lab.test.of('agent.output.delta').map(({ payload }) => payload);
    expect(deltas.length).toBeGreaterThan(1);
    expect(lab.mock.getLastRequest()?.body).toMatchObject({
      ...{ model: 'gpt-5', stream: true },
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

  it('tells the thoughts of the model as thoughts', async () => {
    await using lab = await mocked((mock) =>
      mock.onMessage('why', { content: 'Because.', reasoning: 'Let me think about it.' }),
    );
    await lab.test.say('why');
    expect(lab.test.replies()).toEqual(['Because.']);
    const [, answer] = await lab.test.transcript();
    expect(answer).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Let me think about it.' },
        { type: 'text', text: 'Because.' },
      ],
    });
  });

  it('calls the tools that the model wishes, two at once, and shows it their results', async () => {
    await using lab = await mocked((mock) => {
      mock.on({ toolResultContains: 'sunny in Oslo' }, { content: 'Both are sunny.' });
      mock.onMessage('weather', {
        toolCalls: [
          { name: 'weather', arguments: '{"city":"Rome"}', id: 'c-1' },
          { name: 'weather', arguments: '{"city":"Oslo"}', id: 'c-2' },
        ],
      });
    });
    await lab.test.say('weather?');
    expect(lab.test.replies()).toEqual(['Both are sunny.']);
    expect(lab.test.of('agent.tool.called').map(({ payload }) => payload.params)).toEqual([
      { city: 'Rome' },
      { city: 'Oslo' },
    ]);
  });

  it('tells the tokens of a turn', async () => {
    await using lab = await mocked((mock) =>
      mock.onMessage('hello', {
        content: 'Hi.',
        usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
      }),
    );
    await lab.test.say('hello');
    const [output] = lab.test.of('agent.llm.output');
    expect(output?.payload.usage).toMatchObject({ inputTokens: 11, outputTokens: 3 });
  });

  it('fails clearly where the model has no answer', async () => {
    await using lab = await mocked((mock) => mock.onMessage('never', { content: '' }));
    expect(await lab.test.say('hello')).toMatchObject({ status: 'failed' });
    const [output] = lab.test.of('agent.llm.output');
    expect(output?.payload.error).toMatch(/^refused: HTTP 404/);
  });
});
