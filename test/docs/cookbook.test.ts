import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import approval from '../../docs/examples/approval.js';
import metrics from '../../docs/examples/metrics.js';
import openai from '../../docs/examples/openai.js';
import poll from '../../docs/examples/poll.js';
import rateLimit from '../../docs/examples/rate-limit.js';
import redact from '../../docs/examples/redact.js';
import reminder from '../../docs/examples/reminder.js';
import retrieval from '../../docs/examples/retrieval.js';
import router from '../../docs/examples/router.js';
import webhook from '../../docs/examples/webhook.js';
import { echoProvider } from '../../src/agent/index.js';
import { createKernel, defineExtension, select } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { loadExtension } from '../../src/sdk/extension/index.js';
import { textOf } from '../../src/sdk/stream/index.js';
import {
  agentConformance,
  channelConformance,
  expectDenied,
  expectReply,
  fakeChannel,
  loadForTest,
  samplePayload,
  scriptedAgent,
  startTestHost,
  virtualClock,
  virtualStartMs,
} from '../../src/testing/index.js';
import { readProjectFile } from '../support/source-tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { freePort, loopbackServer } from './loopback-server.js';
import { codeBlocks } from './pages.js';

const recipes = codeBlocks(readProjectFile('docs/cookbook.md'), 'ts');

it('the cookbook has eleven recipes of 12 to 80 lines, which are whole extensions', () => {
  expect(recipes).toHaveLength(11);
  for (const { code } of recipes) {
    expect(code).toContain('export default defineExtension({');
    const lines = code.trimEnd().split('\n').length;
    expect(lines).toBeGreaterThanOrEqual(12);
    expect(lines).toBeLessThanOrEqual(80);
  }
});

describe('the recipe of a rate limit', () => {
  it('tells a sender who writes too much, lets others in, and begins anew after its time', async () => {
    const limit = { extension: rateLimit, config: { messages: 2, perMs: 60_000 } };
    const chooser = defineExtension({
      id: 'chooser', // each veto is asked again, and a message counts once all the same
      setup: (api) => api.resolve('routing.resolving', 'main', () => select({ agentId: 'main' })),
    });
    await using test = await startTestHost({ extensions: [limit, chooser] });
    expectReply(await test.say('one'), 'one');
    expectReply(await test.say('two'), 'two');
    const third = await test.say('three');
    expectDenied(third, { code: 'rate-limited', by: 'rate-limit/limit' });
    expectReply(third, 'At most 2 messages at a time, please.');
    expectReply(await test.say({ text: 'hello', from: 'ben', conversation: 'fake:ben' }), 'hello');
    await test.clock.advance(60_000);
    expectReply(await test.say('four'), 'four');
  });
});

describe('the recipe of a redaction', () => {
  const key = 'sk-abcdefghijklmnop1234';

  it('takes secrets out of the prompt, of the reply, and of all that the transcript keeps', async () => {
    const tool = { tool: 'env', result: { stdout: `KEY=${key}` } };
    const agent = scriptedAgent([[tool, `It is ${key}, and 4111 1111 1111 1111.`]]);
    const agents = [{ id: 'main', provider: agent }];
    await using test = await startTestHost({ extensions: [redact], agents });
    expectReply(await test.say(`Mine is ${key}.`), 'It is [redacted], and [redacted].');
    expect(agent.requests.map(({ prompt }) => prompt)).toEqual(['Mine is [redacted].']);
    const kept = JSON.stringify(await test.transcript());
    expect(kept).not.toContain(key);
    expect(kept).toContain('KEY=[redacted]');
  });

  it('takes a secret out that begins a line, and leaves numbers beside it as they are', async () => {
    const args = { atMicros: 1_732_300_000_000_000 };
    const tool = { tool: 'env', args, result: { stdout: `keys:\n${key}` } };
    const agents = [{ id: 'main', provider: scriptedAgent([[tool, 'Done.']]) }];
    await using test = await startTestHost({ extensions: [redact], agents });
    expectReply(await test.say(`Mine:\n${key}`), 'Done.');
    const kept = JSON.stringify(await test.transcript());
    expect(kept).not.toContain(key);
    expect(kept).toContain('1732300000000000');
    expect(test.outcomes.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('takes a thought with a secret out as a whole, since its signature is of its very words', async () => {
    await using loaded = await loadForTest(redact);
    const thought = (thinking: string) => ({ type: 'thinking', thinking, thinkingSignature: 's' });
    const content = [thought('Easy.'), thought(`The key is ${key}.`), { type: 'text', text: key }];
    const outcome = loaded.kernel.dispatchSync('transcript.message.writing', {
      ...samplePayload('transcript.message.writing'),
      message: { role: 'assistant', content },
    });
    expect(outcome.payload.message.content).toEqual([
      thought('Easy.'),
      { type: 'text', text: '[redacted]' },
    ]);
  });

  it('changes nothing else', async () => {
    await using test = await startTestHost({ extensions: [redact] });
    expectReply(await test.say('Call 555 1234.'), 'Call 555 1234.');
    expect(test.outcomes.flatMap(({ changes }) => changes)).toEqual([]);
  });
});

describe('the recipe of an approval', () => {
  const config = { tools: ['rm'], owner: { channel: 'fake', to: 'fake:owner' } };
  const atOwner = { from: 'owner', conversation: 'fake:owner' };

  const begin = async () => {
    const ran: unknown[] = [];
    const rm = { tool: 'rm', args: { path: '/tmp/a' }, result: (args: unknown) => ran.push(args) };
    const agent = scriptedAgent([[rm, 'I have tried.']]);
    const test = await startTestHost({
      extensions: [{ extension: approval, config }],
      agents: [{ id: 'main', provider: agent }],
      channel: fakeChannel({ interactive: ['buttons'] }),
    });
    return { test, ran, agent };
  };

  it('asks the owner, lets the call run once when it is allowed, and asks again after that', async () => {
    const { test, ran, agent } = await begin();
    await using _ = test;
    expectDenied(await test.say('clean up'), { code: 'approval-denied', by: 'approval/owner' });
    expect(ran).toEqual([]);
    expect(test.replies()).toContain('May the agent run rm?\n{"path":"/tmp/a"}');
    await test.press('Allow', atOwner);
    await test.clock.advance(0);
    await test.say('go on');
    expect(ran).toEqual([{ path: '/tmp/a' }]);
    const [, second] = agent.requests;
    expect(second?.history.map(textOf)).toContain('The call of rm is allowed once: call it again.');
    expectDenied(await test.say('once more'), { code: 'approval-denied' });
    expect(ran).toHaveLength(1);
  });

  it('keeps the call back when the owner denies it, or says nothing in time', async () => {
    const { test, ran } = await begin();
    await using _ = test;
    await test.say('clean up');
    await test.press('Deny', atOwner);
    await test.clock.advance(0);
    expectDenied(await test.say('go on'), { code: 'approval-denied' });
    await test.clock.advance(86_400_000);
    expectDenied(await test.say('and now?'), { code: 'approval-denied' });
    expect(ran).toEqual([]);
    const transcript = await test.transcript();
    expect(transcript.map(({ content }) => content)).toContain('The call of rm is not allowed.');
  });
});

describe('the recipe of a router', () => {
  const config = {
    agents: [{ words: ['invoice', 'bill'], agentId: 'billing' }],
    short: { characters: 20, model: 'echo' },
  };

  it('chooses the agent by the words of a message, and a cheap model for a short one', async () => {
    const echo = echoProvider();
    await using test = await startTestHost({
      extensions: [{ extension: router, config }],
      agents: [
        { id: 'main', provider: echo, model: 'echo-full' },
        { id: 'billing', provider: echo, model: 'echo-full' },
      ],
    });
    const ends = [
      await test.say('Where is my Invoice?'),
      await test.say('Good morning.'),
      await test.say('Billboards are no bills, and this is long.'),
    ];
    expect(ends.map(({ agentId }) => agentId)).toEqual(['billing', 'main', 'main']);
    const models = test.of('agent.llm.input').map(({ payload }) => payload.model);
    expect(models).toEqual(['echo', 'echo', 'echo-full']);
  });
});

describe('the recipe of a retrieval', () => {
  it('gives the model the notes that fit the question best, and nothing if none fits', async () => {
    using folder = temporaryFolder({
      'opening.md': 'We open at nine.\n\nOn Sundays the library is closed.',
      'other.md': 'The library lends books for four weeks.',
    });
    const agent = scriptedAgent([['Yes.']]);
    await using test = await startTestHost({
      extensions: [{ extension: retrieval, config: { notes: folder.path, pieces: 1 } }],
      agents: [{ id: 'main', provider: agent }],
    });
    await test.say('Is the library open on sundays?');
    await test.say('Hm?');
    expect(agent.requests.map(({ prompt }) => prompt)).toEqual([
      'Notes:\n[opening.md] On Sundays the library is closed.\n\nIs the library open on sundays?',
      'Hm?',
    ]);
  });
});

describe('the recipe of a reminder', () => {
  it('reminds once when the time has come', async () => {
    await using test = await startTestHost({ extensions: [reminder] });
    expectReply(await test.say('/remind 10 drink tea'), 'I will remind you in 10 minutes.');
    expectReply(
      await test.say('/remind soon tea'),
      /^minutes: .*Write: \/remind <minutes> <text...>$/,
    );
    await test.clock.advance(9 * 60_000);
    expect(test.replies()).toHaveLength(2);
    await test.clock.advance(60 * 60_000);
    expect(test.replies().slice(2)).toEqual(['You wanted to know: drink tea']);
  });

  it('lists the reminders of a conversation, and cancels those alone', async () => {
    await using test = await startTestHost({ extensions: [reminder] });
    await test.say('/remind 10 drink tea');
    const { content } = expectReply(await test.say('/reminders'), /You wanted to know: drink tea$/);
    const [id = ''] = content.split(' ');
    const ben = { from: 'ben', conversation: 'fake:ben' };
    expectReply(await test.say({ text: '/reminders', ...ben }), 'There is none.');
    expectReply(await test.say({ text: `/forget-reminder ${id}`, ...ben }), 'There is none.');
    expectReply(await test.say(`/forget-reminder ${id}`), 'It is cancelled.');
    expectReply(await test.say('/reminders'), 'There is none.');
    const before = test.replies().length;
    await test.clock.advance(3_600_000);
    expect(test.replies()).toHaveLength(before);
  });

  it('reminds in the thread in which it was asked for, and after a restart', async () => {
    const journal = memoryJournal();
    {
      await using test = await startTestHost({ extensions: [reminder], journal });
      await test.say({ text: '/remind 10 tea', thread: '7' });
    }
    const clock = virtualClock(virtualStartMs + 3_600_000);
    await using test = await startTestHost({ extensions: [reminder], journal, clock });
    await test.clock.advance(120_000);
    expect(test.channel.sent.map(({ content, threadId }) => [content, threadId])).toEqual([
      ['You wanted to know: tea', '7'],
    ]);
  });

  it('is late for nobody because of a time that another has given', async () => {
    await using test = await startTestHost({ extensions: [reminder] });
    expectReply(await test.say('/remind 1e300 nothing'), /^minutes: /);
    await test.say('/remind 10.00001 coffee');
    await test.say('/remind 20 tea');
    await test.clock.advance(15 * 60_000);
    expect(test.replies().slice(3)).toEqual(['You wanted to know: coffee']);
  });
});

describe('the recipe of a poll', () => {
  it('asks everybody in the conversation, counts one vote of each, and tells the result', async () => {
    const channel = fakeChannel({ interactive: ['buttons'] });
    await using test = await startTestHost({ extensions: [poll], channel });
    await test.say('/poll Lunch? Soup, Pizza');
    expect(channel.sent.at(-1)).toMatchObject({
      content: 'Lunch?',
      interactive: { buttons: [{ label: 'Soup' }, { label: 'Pizza' }] },
    });
    expectReply(await test.press('Soup', { from: 'ada' }), 'You voted for Soup.');
    await test.press('Pizza', { from: 'ben' });
    await test.press('Pizza', { from: 'ada' }); // she has changed her mind
    expectReply(await test.say('/poll'), 'Lunch?\nSoup: 0\nPizza: 2');
  });
});

describe('the recipe of a poll, in two threads', () => {
  it('asks and counts in each for itself, and takes an empty choice for none', async () => {
    const channel = fakeChannel({ interactive: ['buttons'] });
    await using test = await startTestHost({ extensions: [poll], channel });
    await test.say({ text: '/poll Lunch? Soup, Pizza,', thread: '1' });
    await test.say({ text: '/poll Tea? Green,, Black', thread: '2' });
    const shown = channel.sent.map(({ threadId, interactive }) => [
      threadId,
      interactive?.buttons?.map(({ label }) => label),
    ]);
    expect(shown).toEqual([
      ['1', ['Soup', 'Pizza']],
      ['2', ['Green', 'Black']],
    ]);
    for (const { interactive } of channel.sent)
      for (const { id } of interactive?.buttons ?? []) expect(id.length).toBeLessThanOrEqual(64);
    await test.press('Pizza', { thread: '1' });
    expectReply(await test.say({ text: '/poll', thread: '1' }), 'Lunch?\nSoup: 0\nPizza: 1');
    expectReply(await test.say({ text: '/poll', thread: '2' }), 'Tea?\nGreen: 0\nBlack: 0');
    expectReply(await test.say('/poll Nothing? ,'), 'For instance: /poll Lunch? Soup, Pizza');
  });
});

describe('the recipe of metrics', () => {
  it('answers 503 where no host runs', async () => {
    const port = await freePort();
    const loaded = await loadExtension(createKernel({ grants: { metrics: ['tap'] } }), metrics, {
      config: { port },
    });
    if (loaded.status !== 'loaded') throw loaded.error;
    await using _loaded = loaded;
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(503);
  });

  it('counts dispatches and failures, and shows the figures of the host, in the format of Prometheus', async () => {
    const port = await freePort();
    const limit = { extension: rateLimit, config: { messages: 1, perMs: 60_000 } };
    const broken = defineExtension({
      id: 'broken',
      setup: (api) =>
        api.observe('ingress.received', 'boom', () => {
          throw new Error('boom');
        }),
    });
    await using test = await startTestHost({
      extensions: [{ extension: metrics, config: { port } }, limit, broken],
      grants: { metrics: ['tap'] },
    });
    for (const text of ['one', 'two']) await test.say(text);
    const lines = (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'sluice_dispatches_total{family="routing.resolving",status="passed"} 1',
        'sluice_dispatches_total{family="routing.resolving",status="cancelled"} 1',
        'sluice_failures_total{extension="broken",kind="threw"} 2',
        'sluice_waiting 0',
        'sluice_dead_letters 0',
      ]),
    );
    await test[Symbol.asyncDispose]();
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
  });
});

describe('the recipe of a webhook channel', () => {
  const token = 'sixteen characters';

  /** The channel, with the server that gets its replies, and a caller. */
  const begin = async (...answers: number[]) => {
    const port = await freePort();
    const shown = new Map<unknown, string>(); // a receiver shows each key once
    const receiver = await loopbackServer(({ headers, body }) => {
      const status = answers.shift() ?? 200;
      if (status === 200) shown.set(headers['idempotency-key'], String(body['text']));
      return { status, headers: status === 429 ? { 'retry-after': '2' } : {} };
    });
    const post = async (body: unknown, authorization = `Bearer ${token}`): Promise<number> => {
      const text = JSON.stringify(body);
      const options = { method: 'POST', headers: { authorization }, body: text };
      return (await fetch(`http://127.0.0.1:${port}/`, options)).status;
    };
    const config = { port, token, replyTo: receiver.url };
    const fail = (status: number): unknown => answers.push(status);
    return { receiver, shown, post, fail, extension: { extension: webhook, config } };
  };

  it('answers who posts, handles an id once, and lets no stranger in', async () => {
    const { receiver, post, extension } = await begin();
    await using _ = receiver;
    await using test = await startTestHost({ extensions: [extension] });
    const hello = { id: '1', conversation: 'room', text: 'hello' };
    expect(await post(hello)).toBe(202);
    expect(await post(hello)).toBe(202);
    expect(await post(hello, 'Bearer of bad news')).toBe(401);
    expect(await post({ text: 'hello' })).toBe(400);
    expect(receiver.requests.map(({ body }) => body)).toEqual([
      { conversation: 'room', text: 'hello' },
    ]);
    expect(receiver.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expect(test.ends).toHaveLength(1);
  });

  it('waits as long as the receiver asks, and sends again under the same key', async () => {
    const { receiver, post, extension } = await begin(429, 500);
    await using _ = receiver;
    await using test = await startTestHost({ extensions: [extension] });
    const posted = post({ id: '1', conversation: 'room', text: 'hello' });
    await receiver.asked(1);
    while (receiver.requests.length < 3) {
      await test.clock.advance(1_000);
      await new Promise(setImmediate);
    }
    expect(await posted).toBe(202);
    expect(new Set(receiver.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(
      1,
    );
    expect(test.ends).toMatchObject([{ status: 'answered' }]);
  });

  const checks = channelConformance(async () => {
    const { receiver, shown, post, extension, fail } = await begin();
    const loaded = await loadForTest(webhook, extension);
    const [channel] = loaded.provided('channel');
    assert(channel);
    return {
      channel,
      to: 'room',
      deliver: (text, id) => void post({ id, conversation: 'room', text }).catch(() => undefined),
      shown: () => [...shown.values()],
      failNext: (how) => fail({ ambiguous: 500, rejected: 404, 'retry-after': 429 }[how]),
      [Symbol.asyncDispose]: async () => {
        await loaded[Symbol.asyncDispose]();
        await receiver[Symbol.asyncDispose]();
      },
    };
  });
  it.each(checks)('conforms: $name', ({ run }) => run());
});

describe('the recipe of an agent of an OpenAI-like server', () => {
  const add = (a: number, b: number) => ({
    id: 'call-1',
    type: 'function',
    function: { name: 'add', arguments: JSON.stringify({ a, b }) },
  });

  /** A model that adds if it is asked to, says what the tool said, fails, or never answers. */
  const begin = async () => {
    const server = await loopbackServer(({ body }) => {
      const { messages } = body as { messages: { role: string; content: string }[] };
      const { role = '', content = '' } = messages.at(-1) ?? {};
      if (content === 'fail') return { status: 500 };
      if (content === 'wait') return new Promise(() => undefined);
      const isSum = role === 'user' && content === '2 + 3?';
      const message = isSum ? { content: null, tool_calls: [add(2, 3)] } : { content };
      return { body: { choices: [{ message: { role: 'assistant', ...message } }] } };
    });
    const config = { url: server.url, apiKey: 'key', model: 'small' };
    return { server, extension: { extension: openai, config } };
  };

  it('is chosen by its name, calls tools through the gate, and sends the history on', async () => {
    const { server, extension } = await begin();
    await using _ = server;
    const patch = defineExtension({
      id: 'patch',
      setup: (api) => api.mutate('agent.tool.calling', 'ten', () => ({ params: { b: 10 } })),
    });
    await using test = await startTestHost({
      extensions: [extension, patch],
      defaultAgent: 'gpt',
    });
    expectReply(await test.say('2 + 3?'), '12');
    expectReply(await test.say('Thank you.'), 'Thank you.');
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key');
    expect(server.requests.at(-1)?.body).toMatchObject({
      model: 'small',
      messages: [
        { role: 'system' },
        { role: 'user', content: '2 + 3?' },
        { role: 'assistant', tool_calls: [add(2, 3)] },
        { role: 'tool', tool_call_id: 'call-1', content: '12' },
        { role: 'assistant', content: '12' },
        { role: 'user', content: 'Thank you.' },
      ],
    });
  });

  const checks = agentConformance(async () => {
    const { server, extension } = await begin();
    const loaded = await loadForTest(openai, extension);
    const [agent] = loaded.provided('agent');
    assert(agent);
    return {
      provider: agent.provider,
      text: 'hello',
      tool: '2 + 3?',
      failure: 'fail',
      endless: 'wait',
      [Symbol.asyncDispose]: async () => {
        await loaded[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  });
  it.each(checks)('conforms: $name', ({ run }) => run());
});
