import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allow, cancel, defineExtension, select } from '../../../src/index.js';
import { memoryJournal, memoryStore } from '../../../src/journal/index.js';
import {
  commandContext,
  expectDenied,
  expectReply,
  fakeChannel,
  scriptedAgent,
  startTestHost,
} from '../../../src/testing/index.js';

const limiter = defineExtension({
  id: 'limiter',
  config: z.object({ messages: z.number() }),
  setup(api, { messages }) {
    let said = 0;
    api.veto('routing.resolving', 'limit', { recheck: false }, () =>
      ++said > messages ? cancel('rate-limited', { reply: 'Slowly, please.' }) : allow(),
    );
  },
});

describe('a test host', () => {
  it('answers by the echo agent, and lets a pure veto of routing.resolving pass', async () => {
    await using test = await startTestHost({
      extensions: [{ extension: limiter, config: { messages: 1 } }],
    });
    expectReply(await test.say('hello'), 'hello');
    const end = await test.say('again');
    expectDenied(end, { code: 'rate-limited', by: 'limiter/limit' });
    expectReply(end, /slowly/i);
    expect(test.replies()).toEqual(['hello', 'Slowly, please.']);
    expect((await test.transcript()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'toolResult',
      'assistant',
    ]);
    expect(await test.journal.updates()).toMatchObject([{ state: 'ended' }, { state: 'ended' }]);
  });

  it('runs a scripted agent, whose tools pass the gate', async () => {
    const ran: unknown[] = [];
    const result = (args: unknown) => ran.push(args);
    const agent = scriptedAgent([
      ['Let me see.', { tool: 'rm', args: { path: '/' }, result }, 'I could not.'],
    ]);
    const guard = defineExtension({
      id: 'guard',
      setup: (api) =>
        api.veto('agent.tool.calling', 'rm', ({ payload }) =>
          payload.toolName === 'rm' ? cancel('blocked') : allow(),
        ),
    });
    await using test = await startTestHost({
      extensions: [guard],
      agents: [{ id: 'main', provider: agent }],
    });
    const end = await test.say('clean up');
    expectDenied(end, { by: 'guard' });
    expectReply(end, 'I could not.');
    expect(ran).toEqual([]);
    expect(agent.requests.map(({ prompt }) => prompt)).toEqual(['clean up']);
  });

  it('D2: two scripted agents with the id that both have by default answer for themselves (event-pipeline §16.21)', async () => {
    const routes = defineExtension({
      id: 'routes',
      setup: (api) =>
        api.resolve('routing.resolving', 'by-text', ({ payload }) =>
          select({ agentId: payload.message.content === 'hey ops' ? 'ops' : 'main' }),
        ),
    });
    await using test = await startTestHost({
      extensions: [routes],
      agents: [
        { id: 'main', provider: scriptedAgent([['from main']]) },
        { id: 'ops', provider: scriptedAgent([['from ops']]) },
      ],
    });
    expectReply(await test.say('hey main'), 'from main');
    expectReply(await test.say('hey ops'), 'from ops');
  });

  it('turns time by hand: a send that has to wait goes out when its time has come', async () => {
    const channel = fakeChannel();
    channel.next({ status: 'retry-after', retryAfterMs: 1_000 });
    await using test = await startTestHost({ channel });
    const ending = test.say('hello');
    await test.clock.advance(999);
    expect(test.replies()).toEqual([]);
    await test.clock.advance(1);
    expectReply(await ending, 'hello');
  });

  it.each([
    ['throws', 'failed', []],
    ['lost', 'failed', ['hello']],
  ] as const)('shows a send that %s', async (fault, status, replies) => {
    const channel = fakeChannel();
    channel.next(fault);
    await using test = await startTestHost({ channel });
    expect(await test.say('hello')).toMatchObject({ status });
    expect(test.replies()).toEqual(replies);
  });

  it('gives no id again on a journal that another host has had', async () => {
    const journal = memoryJournal();
    const store = memoryStore();
    const sessions: (string | undefined)[] = [];
    for (const from of ['ada', 'bob']) {
      await using test = await startTestHost({ journal, store });
      const end = await test.say({ text: 'hello', from, conversation: from });
      expectReply(end, 'hello');
      sessions.push(end.sessionKey && (await store.loadSession(end.sessionKey))?.sessionId);
    }
    expect(new Set(sessions).size).toBe(2);
    const kept = await journal.updates({ limit: 10 });
    expect(kept.map(({ updateId }) => updateId)).toEqual(['said-1', 'said-1-1']);
  });

  it('rejects with the error of an extension that could not be loaded', async () => {
    await expect(startTestHost({ extensions: [limiter] })).rejects.toMatchObject({
      code: 'bad-config',
    });
  });

  it('rejects so also if another extension waits at its undo', async () => {
    const slow = defineExtension({
      id: 'slow',
      setup: (api) => {
        api.own('wait', () => new Promise<void>((resolve) => api.clock.setTimeout(resolve, 500)));
      },
    });
    const broken = defineExtension({
      id: 'broken',
      setup: () => {
        throw new Error('no key');
      },
    });
    await expect(startTestHost({ extensions: [slow, broken] })).rejects.toThrow(/no key/);
  });

  it('rejects if its channel cannot be started, also if an extension waits at its undo', async () => {
    const slow = defineExtension({
      id: 'slow',
      setup: (api) => {
        api.own('wait', () => new Promise<void>((resolve) => api.clock.setTimeout(resolve, 500)));
      },
    });
    const channel = fakeChannel({ startAccount: () => Promise.reject(new Error('no token')) });
    await expect(startTestHost({ extensions: [slow], channel })).rejects.toMatchObject({
      code: 'no-account',
    });
  });

  it('rejects what is said to a host that has stopped', async () => {
    const test = await startTestHost();
    await test[Symbol.asyncDispose]();
    await expect(test.say('hello')).rejects.toThrow(/the host has stopped/);
  });

  it('expects a reply by a global pattern twice', async () => {
    await using test = await startTestHost();
    const end = await test.say('hello');
    const pattern = /hello/g;
    for (const time of [1, 2])
      expect([time, expectReply(end, pattern).content]).toEqual([time, 'hello']);
  });

  it('says what happened if an expectation does not hold', async () => {
    await using test = await startTestHost();
    const end = await test.say('hello');
    expect(() => expectReply(end, 'goodbye')).toThrow(
      /expected a reply goodbye, and this was sent:\n {2}"hello"\nthe message ended: answered/,
    );
    expect(() => expectDenied(end, { code: 'policy' })).toThrow(
      /expected a veto to deny it with "policy", and none did\nthe message ended: answered/,
    );
  });
});

it('a command context is that of a plain message, but for its fields', () => {
  expect(commandContext({ args: ['10'] })).toMatchObject({
    args: ['10'],
    isAuthorized: true,
    message: { content: expect.any(String) },
  });
});
