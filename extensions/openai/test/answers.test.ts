import { LLMock } from '@copilotkit/aimock';
import { defineExtension } from 'sluice';
import { startTestHost } from 'sluice/testing';
import { describe, expect, it } from 'vitest';
import { agentsOf, config } from '../src/config.js';
import openai from '../src/index.js';
import { headersOf } from '../src/openai-agent.js';
import { agentLab, weather } from './agent-lab.js';
import { type Answer, part, parts, says } from './model-server.js';

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
    defaultAgent: 'it',
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

describe('the answers of other servers', () => {
  const answered = async (...given: readonly (object | string)[]) => {
    await using lab = await agentLab([parts(...given)], { agent: { attempts: 1 } });
    await lab.test.say('hello');
    const [, message] = await lab.test.transcript();
    return message?.content;
  };
  const text = (said: string) => ({ type: 'text', text: said });
  const thought = (said: string) => ({ type: 'thinking', thinking: said });

  it.each<[string, readonly (object | string)[], readonly object[]]>([
    ['no reason at the end', [{ content: 'Hi.' }], [text('Hi.')]],
    ['comments', [': ping\n\n', { content: 'Hi.' }, part({}, 'stop')], [text('Hi.')]],
    [
      'thoughts as "reasoning"',
      [{ reasoning: 'Hm.' }, { content: 'Hi.' }, part({}, 'stop')],
      [thought('Hm.'), text('Hi.')],
    ],
    [
      'blocks in the place of a text',
      [{ content: [text('Hi'), text(' you.')] }, part({}, 'stop')],
      [text('Hi you.')],
    ],
    ['a refusal', [{ refusal: 'I may not.' }, part({}, 'stop')], [text('I may not.')]],
  ])('%s', async (_, given, content) => {
    expect(await answered(...given)).toEqual(content);
  });

  it('an answer as a whole, though a stream was asked for', async () => {
    const whole: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      const message = { role: 'assistant', content: 'Hi.' };
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
    };
    await using lab = await agentLab([whole]);
    await lab.test.say('hello');
    expect(lab.test.replies()).toEqual(['Hi.']);
  });

  it('calls without indices, with arguments as objects', async () => {
    const call = (id: string, city: string) => ({
      tool_calls: [{ id, function: { name: 'weather', arguments: { city } } }],
    });
    const both = parts(call('a', 'Rome'), call('b', 'Oslo'), part({}, 'stop'));
    await using lab = await agentLab([both, says('Done.')], {}, { extensions: [weatherman] });
    await lab.test.say('weather?');
    expect(lab.asked[1]?.body.messages.slice(-2)).toMatchObject([
      { tool_call_id: 'a', content: 'sunny in Rome' },
      { tool_call_id: 'b', content: 'sunny in Oslo' },
    ]);
  });
});

describe('the settings', () => {
  it('of an agent win over those at the top, which hold for those that were asked for, too', () => {
    const read = config.parse({
      agents: [{ id: 'one', model: 'm-1', maxRounds: 3 }],
      asked: [
        'm-2@http://127.0.0.1:8080/v1/chat/completions/',
        '@cf/m-3',
        'm@4@https://b.example/v1/?api-version=1',
      ],
      ...{ maxRounds: 7, url: 'https://models.example/v1/' },
    });
    expect(
      agentsOf(read).map(({ id, model, url, maxRounds }) => [id, model, url, maxRounds]),
    ).toEqual([
      ['one', 'm-1', 'https://models.example/v1', 3],
      [
        ...['openai:m-2@http://127.0.0.1:8080/v1/chat/completions/', 'm-2'],
        ...['http://127.0.0.1:8080/v1', 7],
      ],
      ['openai:@cf/m-3', '@cf/m-3', 'https://models.example/v1', 7],
      [
        ...['openai:m@4@https://b.example/v1/?api-version=1', 'm@4'],
        ...['https://b.example/v1?api-version=1', 7],
      ],
    ]);
  });

  it.each([
    ['no address', { asked: ['m@https://'] }],
    ['an address without its beginning', { asked: ['m@localhost:11434/v1'] }],
    ['a name behind "@" that could be an address', { asked: ['m@host'] }],
    ['a password in the address', { url: 'https://ada:secret@x.example/v1' }],
    ['an MCP server that is not there', { tools: ['files'] }],
    ['a name that could clash', { mcpServers: { a_b: { command: 'x' } } }],
    ['a server that is neither', { mcpServers: { a: { args: [] } } }],
    ['a misspelt key', { maxRound: 3 }],
  ])('with %s are refused', (_, given) => {
    expect(config.safeParse(given).success).toBe(false);
  });

  it('keep the key of the environment from addresses that it is not for', async () => {
    const before = process.env['OPENAI_API_KEY'];
    process.env['OPENAI_API_KEY'] = 'k-9';
    try {
      const keyFor = (url: string, more: object = {}) => {
        const headers = headersOf({ ...settings, url, ...more });
        return Object.fromEntries([...headers].filter(([name]) => name === 'authorization'));
      };
      const [settings = broken()] = agentsOf(config.parse({ asked: ['m'] }));
      const sent = { authorization: 'Bearer k-9' };
      for (const url of ['https://x.example/v1', 'http://127.0.0.1:1/v1', 'http://localhost:1/v1'])
        expect(keyFor(url)).toEqual(sent);
      for (const url of ['http://x.example/v1', 'http://localhost:1@x.example/v1'])
        expect(keyFor(url)).toEqual({});
      expect(keyFor('http://x.example/v1', { apiKey: 'own' })).toEqual({
        authorization: 'Bearer own',
      });
      const own = { headers: { Authorization: 'Basic other' } };
      expect(keyFor('https://x.example/v1', own)).toEqual({ authorization: 'Basic other' });
      const torn = () => keyFor('https://x.example/v1', { apiKey: 'sk-1\nsk-2' });
      expect(torn).toThrow(/^refused: "apiKey" or a header has a letter/);
    } finally {
      if (before === undefined) delete process.env['OPENAI_API_KEY'];
      else process.env['OPENAI_API_KEY'] = before;
    }
  });
});

function broken(): never {
  throw new Error('there is no agent');
}
