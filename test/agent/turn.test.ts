import { describe, expect, it } from 'vitest';
import {
  type AgentTurnOptions,
  echoProvider,
  replayProvider,
  runAgentTurn,
} from '../../src/agent/index.js';
import { cancel, type FamilyName, type Kernel } from '../../src/kernel/index.js';
import type { AgentProvider, SessionEvent, TranscriptEntry } from '../../src/stream/index.js';
import { createTestKernel } from '../../src/testing/index.js';

const at = { extensionId: 'test', id: 'probe' } as const;

/** A provider that yields a script. */
function scripted(run: AgentProvider['run'], fields: Partial<AgentProvider> = {}): AgentProvider {
  return { id: 'scripted', models: ['m'], toolGate: 'enforce', run, ...fields };
}

async function turn(
  options: Partial<AgentTurnOptions> & { contribute?: (kernel: Kernel) => unknown } = {},
) {
  const test = createTestKernel();
  options.contribute?.(test.kernel);
  const written: TranscriptEntry[] = [];
  const result = runAgentTurn({
    kernel: test.kernel,
    provider: echoProvider(),
    message: { text: 'hello' },
    runId: 'r-1',
    clock: test.clock,
    logger: test.log,
    ...options,
    session: {
      agentId: 'main',
      sessionKey: 'k',
      sessionId: 's',
      history: [],
      append: (message) => void written.push(message),
      ...options.session,
    },
  });
  const families = () => test.outcomes.map(({ event }) => event.family);
  const count = (family: FamilyName) => families().filter((name) => name === family).length;
  return { ...test, result, written, families, count };
}

const message = (text: string): SessionEvent => ({
  type: 'message_end',
  message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' },
});
const end: SessionEvent = { type: 'agent_end', messages: [] };

describe('a turn', () => {
  it('answers, writes its transcript, and ends with agent.completed and agent.llm.output', async () => {
    const { result, written, families, outcomes } = await turn();
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
      yield { type: 'message_start', message: { role: 'assistant', content: [] } };
      yield { type: 'tool_execution_start', toolCallId: 't', toolName: 'x', args: {} };
      yield {
        type: 'tool_execution_end',
        toolCallId: 't',
        toolName: 'x',
        result: 1,
        isError: false,
      };
      yield { type: 'message_end', message: { role: 'assistant', content: [asked] } };
      yield end;
    });
    const { result, written } = await turn({ provider });
    await result;
    expect(written.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult']);
  });

  it('lets a veto block a tool with its reason, and tells of the blocked call', async () => {
    const { result, outcomes } = await turn({
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
    const { result } = await turn({
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
    expect((await result).assistantTexts[0]).toMatch(/I may not use echo: .*no policy server/);
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
    const { result, outcomes } = await turn({
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
      yield { type: 'tool_execution_start', toolCallId: 't', toolName: 'search', args: { q: 'x' } };
      yield {
        type: 'tool_execution_end',
        toolCallId: 't',
        toolName: 'search',
        result: 'y',
        isError: false,
      };
      yield end;
    });
    const { result, count, outcomes } = await turn({ provider });
    await result;
    expect(count('agent.tool.calling')).toBe(1);
    expect(
      outcomes.find(({ event }) => event.family === 'agent.tool.called')?.payload,
    ).toMatchObject({
      params: { q: 'x' },
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
      const { result, written } = await turn({
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
  it('is told around what the host hears of it, and holds nothing up (§16.6)', async () => {
    const heard: string[] = [];
    const provider = scripted(async function* () {
      yield { type: 'auto_compaction_start', reason: 'overflow' };
      yield { type: 'auto_compaction_end', aborted: false, willRetry: true };
      yield message('with room');
      yield end;
    });
    const { result, outcomes, families } = await turn({
      provider,
      callbacks: { onEvent: ({ type }) => void heard.push(type) },
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
    expect(heard.slice(0, 3)).toEqual([
      'compaction.before',
      'auto_compaction_start',
      'auto_compaction_end',
    ]);
    expect(families().slice(-2)).toEqual(['agent.completed', 'agent.llm.output']);
    const told = outcomes.filter(({ event }) => event.family.startsWith('compaction.'));
    expect(told.map(({ payload }) => payload)).toMatchObject([
      { runId: 'r-1', cause: 'overflow', messageCount: 1 },
      { runId: 'r-1', cause: 'overflow', willRetry: true, compactionCount: 1 },
    ]);
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
    yield message('from the other');
    yield end;
  });
  const providers = [echoProvider(), other];

  it('comes from the provider that a mutator chose, with that provider’s default', async () => {
    const { result } = await turn({ providers, contribute: override({ provider: 'scripted' }) });
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
    const { result, count } = await turn({ providers, contribute: override(patch) });
    const { status, error } = await result;
    expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'no-model' });
    expect(error?.message).toMatch(why);
    expect(count('agent.completed')).toBe(1);
    expect(count('agent.llm.output')).toBe(0); // no provider was called
  });
});

describe('whatever happens, agent.completed is emitted once', () => {
  const throws = scripted(async function* () {
    yield message('before');
    throw new Error('connection reset');
  });

  it('when the provider throws: what it said before is kept', async () => {
    const { result, count, written } = await turn({ provider: throws });
    expect(await result).toMatchObject({
      status: 'failed',
      error: { code: 'provider-failed', message: expect.stringMatching(/connection reset/) },
      assistantTexts: ['before'],
    });
    expect(count('agent.completed')).toBe(1);
    expect(written).toHaveLength(2);
  });

  it('when the provider ends without agent_end', async () => {
    const { result, count } = await turn({ provider: scripted(async function* () {}) });
    expect((await result).error?.message).toMatch(/ended without agent_end/);
    expect(count('agent.completed')).toBe(1);
  });

  it('when run itself throws, and when its events are no stream', async () => {
    const refuses = scripted(() => {
      throw new Error('no key');
    });
    const { result, count } = await turn({ provider: refuses });
    expect((await result).error?.message).toMatch(/no key/);
    expect(count('agent.completed')).toBe(1);
  });

  it('when the transcript cannot be written', async () => {
    const { result, count } = await turn({
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
    const { result, clock, count } = await turn({
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
      yield message('half');
      yield { ...end, aborted: true };
    });
    const { result, clock, written } = await turn({ provider: obeys, signal: abort.signal });
    await clock.advance(1);
    abort.abort();
    expect(await result).toMatchObject({ status: 'aborted' });
    expect(written.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('when a stage fails closed: a handler of it was aborted', async () => {
    const abort = new AbortController();
    const { result, count, clock } = await turn({
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
    const { result, log } = await turn({
      callbacks: {
        onEvent: () => {
          throw new Error('bad listener');
        },
      },
    });
    expect((await result).status).toBe('completed');
    expect(log.messages('error')[0]).toMatch(
      /callbacks.onEvent threw at agent_start: .*bad listener/,
    );
  });
});
