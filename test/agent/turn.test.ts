import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { replayProvider } from '../../src/claude/agent/index.js';
import { cancel, type Kernel } from '../../src/kernel/internal.js';
import type { TranscriptEntry } from '../../src/sdk/stream/index.js';
import { end, said, scripted, start, toolEnd, toolStart, turnLab } from '../support/turn-lab.js';

const at = { extensionId: 'test', id: 'probe' } as const;

describe('a turn', () => {
  it('answers, writes its transcript, and ends with agent.completed and agent.llm.output', async () => {
    const { result, written, families, outcomes } = turnLab();
    expect(await result).toMatchObject({ status: 'completed', assistantTexts: ['hello'] });
    expect(written.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'toolResult',
      'assistant',
    ]);
    expect(families().slice(-2)).toEqual(['agent.completed', 'agent.llm.output']);
    expect(outcomes.at(-1)?.payload).toMatchObject({ assistantTexts: ['hello'], model: 'echo' });
  });

  it('writes a tool’s result after the message that called it, whichever ends first', async () => {
    const asked = { type: 'toolCall', id: 't', name: 'x', arguments: {} } as const;
    const provider = scripted(async function* () {
      yield start;
      yield { type: 'message_start', message: { role: 'assistant', content: [] } };
      yield toolStart('t', 'x');
      yield toolEnd('t', 'x', 1);
      yield { type: 'message_end', message: { role: 'assistant', content: [asked] } };
      yield end();
    });
    const { result, written } = turnLab({ provider });
    await result;
    expect(written.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult']);
  });

  it('lets a veto block a tool with its reason, and tells of the blocked call', async () => {
    const { result, outcomes } = turnLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.tool.calling',
          class: 'veto',
          handler: () => cancel('approval-denied', { text: 'ask first' }),
        }),
    });
    expect((await result).assistantTexts).toEqual(['I may not use echo: ask first']);
    const called = outcomes.find(({ event }) => event.family === 'agent.tool.called');
    expect(called?.payload).toMatchObject({ isError: true, error: 'ask first' });
  });

  it('blocks a tool whose fail-closed veto fails', async () => {
    const { result } = turnLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.tool.calling',
          class: 'veto',
          failClosed: true,
          handler: () => {
            throw new Error('no policy server');
          },
        }),
    });
    expect((await result).assistantTexts[0]).toBe(
      'I may not use echo: the call failed (threw in test/probe)', // the words of its error may quote what it guards
    );
  });

  it('can only observe the tools of a recording: a cancel there is a failure entry', async () => {
    const frames = [
      {
        type: 'assistant',
        parent_tool_use_id: null,
        message: {
          id: 'm',
          content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { a: 1 } }],
        },
      },
      { type: 'result', subtype: 'success', is_error: false },
    ];
    const { result, outcomes } = turnLab({
      provider: replayProvider(frames),
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.tool.calling',
          class: 'veto',
          handler: () => cancel('blocked'),
        }),
    });
    expect((await result).status).toBe('completed');
    const calling = outcomes.filter(({ event }) => event.family === 'agent.tool.calling');
    expect(calling).toMatchObject([{ status: 'passed', failures: [{ kind: 'observe-only' }] }]);
  });

  it('tells of a call that never came by the gate, as one that could only be observed', async () => {
    const provider = scripted(async function* () {
      yield start;
      yield toolStart('t', 'search');
      yield toolEnd('t', 'search', 'y');
      yield end();
    });
    const { result, count, outcomes } = turnLab({ provider });
    await result;
    expect(count('agent.tool.calling')).toBe(1);
    expect(
      outcomes.find(({ event }) => event.family === 'agent.tool.called')?.payload,
    ).toMatchObject({
      params: { path: 'a.txt' },
      result: 'y',
    });
  });

  it('replays the next run of a recording for each message, and starts over after the last', async () => {
    const said = (text: string) => [
      {
        type: 'assistant',
        parent_tool_use_id: null,
        message: { id: text, content: [{ type: 'text', text }] },
      },
      { type: 'result', subtype: 'success', is_error: false },
    ];
    const provider = replayProvider([...said('one'), ...said('two')]);
    const history: TranscriptEntry[] = [];
    const texts: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { result, written } = turnLab({
        provider,
        session: {
          agentId: 'a',
          sessionKey: 'k',
          sessionId: 's',
          history: [...history],
          append: () => undefined,
        },
      });
      const ended = await result;
      texts.push(...ended.assistantTexts);
      history.push(...ended.written, ...written);
    }
    expect(texts).toEqual(['one', 'two', 'one']);
  });
});

describe('a compaction in a turn', () => {
  it.each([
    ['openclaw', ['auto_compaction_start', 'compaction.before']], // as the live system tells it
    ['seed', ['compaction.before', 'auto_compaction_start']],
  ] as const)('is told in the order "%s", and blocks nothing (§16.6)', async (order, begins) => {
    const heard: string[] = [];
    const provider = scripted(async function* () {
      yield start;
      yield { type: 'auto_compaction_start', reason: 'overflow' };
      yield { type: 'auto_compaction_end', aborted: false, willRetry: true };
      yield* said('with room');
      yield end();
    });
    const { result, outcomes, families } = turnLab({
      provider,
      callbacks: {
        order,
        onEvent: ({ type }) => {
          if (type.startsWith('auto_compaction')) heard.push(type);
        },
      },
      contribute: (kernel) => {
        for (const family of ['compaction.before', 'compaction.after'] as const)
          kernel.contribute({
            ...at,
            id: family,
            family,
            class: 'observer',
            handler: () => void heard.push(family),
          });
      },
    });
    expect((await result).assistantTexts).toEqual(['with room']);
    expect(heard).toEqual([...begins, 'auto_compaction_end', 'compaction.after']);
    expect(families().slice(-2)).toEqual(['agent.completed', 'agent.llm.output']);
    const told = outcomes.filter(({ event }) => event.family.startsWith('compaction.'));
    expect(told.map(({ payload }) => payload)).toMatchObject([
      { runId: 'r-1', cause: 'overflow', messageCount: 1 },
      { runId: 'r-1', cause: 'overflow', willRetry: true, compactionCount: 1 },
    ]);
  });

  it('whose result cannot be read is not dispatched, and fails no turn (§16.6)', async () => {
    const result = {
      get summary(): string {
        throw new Error('gone');
      },
    };
    const lab = turnLab({
      provider: scripted(async function* () {
        yield start;
        yield { type: 'auto_compaction_start', reason: 'threshold' };
        yield { type: 'auto_compaction_end', aborted: false, willRetry: false, result };
        yield* said('hello');
        yield end();
      }),
    });
    expect((await lab.result).assistantTexts).toEqual(['hello']);
    expect(lab.log.entries.map(({ message }) => message)).toContain(
      'a compaction was not dispatched',
    );
  });
});

describe('the model of a turn', () => {
  const override = (patch: { provider?: string; model?: string }) => (kernel: Kernel) =>
    kernel.contribute({
      ...at,
      family: 'agent.model.resolving',
      class: 'mutator',
      handler: () => patch,
    });
  const other = scripted(async function* () {
    yield start;
    yield* said('from the other');
    yield end();
  });
  const providers = [echoProvider(), other];

  it('comes from the provider that a mutator chose, with that provider’s default', async () => {
    const { result } = turnLab({ providers, contribute: override({ provider: 'scripted' }) });
    expect((await result).assistantTexts).toEqual(['from the other']);
  });

  it.each([
    [
      { provider: 'gone' },
      'there is no provider "gone"; there are: echo/echo, echo/echo-full, scripted/m',
    ],
    [
      { model: 'gone' },
      'provider "echo" has no model "gone"; there are: echo/echo, echo/echo-full, scripted/m',
    ],
    [{ provider: 'scripted', model: 'echo-full' }, /provider "scripted" has no model "echo-full"/],
  ])('fails closed for %o, with the list of what there is', async (patch, why) => {
    const { result, count } = turnLab({ providers, contribute: override(patch) });
    const { status, error } = await result;
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'no-model' });
    expect(error?.message).toMatch(why);
    expect(count('agent.completed')).toBe(1);
    expect(count('agent.llm.output')).toBe(0); // no provider was called
  });
});

describe('whatever happens, agent.completed is emitted once', () => {
  const throws = scripted(async function* () {
    yield start;
    yield* said('before');
    throw new Error('connection reset');
  });

  it('when the provider throws: what it said before is kept', async () => {
    const { result, count, written } = turnLab({ provider: throws });
    expect(await result).toMatchObject({
      status: 'failed',
      error: { code: 'provider-failed', message: expect.stringMatching(/connection reset/) },
      assistantTexts: ['before'],
    });
    expect(count('agent.completed')).toBe(1);
    expect(written).toHaveLength(2);
  });

  it('when the provider ends without agent_end', async () => {
    const { result, count } = turnLab({ provider: scripted(async function* () {}) });
    expect((await result).error?.message).toMatch(/ended without agent_end/);
    expect(count('agent.completed')).toBe(1);
  });

  it('when run itself throws, and when its events are no stream', async () => {
    const refuses = scripted(() => {
      throw new Error('no key');
    });
    const { result, count } = turnLab({ provider: refuses });
    expect((await result).error?.message).toMatch(/no key/);
    expect(count('agent.completed')).toBe(1);
  });

  it('when the transcript cannot be written', async () => {
    const { result, count } = turnLab({
      session: {
        agentId: 'a',
        sessionKey: 'k',
        sessionId: 's',
        history: [],
        append: async () => {
          throw new Error('disk full');
        },
      },
    });
    expect((await result).error).toMatchObject({
      code: 'not-written',
      message: expect.stringMatching(/disk full/),
    });
    expect(count('agent.completed')).toBe(1);
  });

  it('when a transcript refuses with a promise of its own kind, and not when it gives back no promise', async () => {
    const refused = {
      // biome-ignore lint/suspicious/noThenProperty: as a library of databases makes it
      then: (_: unknown, reject: (why: Error) => void) => reject(new Error('disk full')),
    };
    const transcript = { agentId: 'a', sessionKey: 'k', sessionId: 's', history: [] };
    const run = (append: () => void) => turnLab({ session: { ...transcript, append } }).result;
    expect((await run(() => refused)).error?.code).toBe('not-written');
    expect((await run(() => 1)).status).toBe('completed');
  });

  it('when the turn is aborted while its provider hangs: it gets its grace, and is cut off', async () => {
    const abort = new AbortController();
    let released = false;
    const hangs = scripted(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: async () => {
          released = true;
          return { done: true as const, value: undefined };
        },
      }),
    }));
    const { result, clock, count } = turnLab({
      provider: hangs,
      signal: abort.signal,
      graceMs: 500,
    });
    await clock.advance(10);
    abort.abort();
    await clock.advance(499);
    expect(count('agent.completed')).toBe(0);
    await clock.advance(1);
    expect(await result).toMatchObject({ status: 'aborted', assistantTexts: [] });
    expect(count('agent.completed')).toBe(1);
    expect(released).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('when the turn is aborted and its provider ends by itself: the aborted message is in the transcript', async () => {
    const abort = new AbortController();
    const obeys = scripted(async function* ({ signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield start;
      yield* said('half');
      yield end({ aborted: true });
    });
    const { result, clock, written } = turnLab({ provider: obeys, signal: abort.signal });
    await clock.advance(1);
    abort.abort();
    expect(await result).toMatchObject({ status: 'aborted' });
    expect(written.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('when a stage fails closed: a handler of it was aborted', async () => {
    const abort = new AbortController();
    const { result, count, clock } = turnLab({
      signal: abort.signal,
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.prompt.building',
          class: 'mutator',
          handler: () => new Promise<never>(() => undefined),
        }),
    });
    await clock.advance(1);
    abort.abort();
    expect((await result).status).toBe('aborted');
    expect(count('agent.completed')).toBe(1);
  });

  it('when a callback throws: it is logged, and stops nothing', async () => {
    const { result, log } = turnLab({
      callbacks: {
        onEvent: () => {
          throw new Error('bad listener');
        },
      },
    });
    expect((await result).status).toBe('completed');
    expect(log.entries.find(({ level }) => level === 'error')).toMatchObject({
      message: 'callbacks.onEvent threw at agent_start',
      fields: { error: { message: 'bad listener' } },
    });
  });
});
