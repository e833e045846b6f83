import { describe, expect, it } from 'vitest';
import type { AgentAttempt } from '../../src/agent/index.js';
import { registerLegacyHook } from '../../src/openclaw/index.js';
import type { AgentProvider, TranscriptEntry } from '../../src/sdk/stream/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { end, said, scripted, start, toolEnd, toolStart, turnLab } from '../support/turn-lab.js';

/** A provider of several models: those named `good…` answer, the others fail. It keeps what it was asked. */
function flaky(failures = Number.POSITIVE_INFINITY) {
  const asked: { model: string; history: readonly TranscriptEntry[]; prompt: string }[] = [];
  let left = failures;
  const provider = scripted(
    async function* ({ model, history, prompt }) {
      asked.push({ model, history: history as readonly TranscriptEntry[], prompt });
      yield start;
      if (!model.startsWith('good') && left-- > 0) {
        yield* said('', { stopReason: 'error', errorMessage: 'overloaded' });
        yield end({ error: { subtype: 'error', message: 'overloaded' } });
        return;
      }
      yield* said(`from ${model}`);
      yield end();
    },
    { models: ['bad', 'worse', 'good'] },
  );
  return { provider, asked };
}

describe('a turn with attempts left', () => {
  it('D2: falls back to a model of its own provider where another has the same id (§16.21)', async () => {
    const own = flaky();
    const other = flaky();
    const { result } = turnLab({
      provider: own.provider,
      providers: [other.provider],
      retry: { fallbacks: [{ provider: 'scripted', model: 'good' }] },
    });
    expect((await result).assistantTexts).toEqual(['from good']);
    expect(own.asked.map(({ model }) => model)).toEqual(['bad', 'good']);
    expect(other.asked).toEqual([]);
  });

  it('resolves its model once, and repeats all else for each attempt (seed 001, facts of the live runner)', async () => {
    const { provider } = flaky(1);
    const { result, families, outcomes } = turnLab({ provider, retry: { maxAttempts: 3 } });
    expect(await result).toMatchObject({
      status: 'completed',
      assistantTexts: ['from bad'],
      attempts: [
        { attempt: 1, status: 'failed', error: { code: 'provider-failed' } },
        { attempt: 2, status: 'completed', model: { provider: 'scripted', model: 'bad' } },
      ],
    });
    const start = ['agent.starting', 'agent.answer.resolving'];
    const attempt = ['agent.prompt.building', 'agent.llm.calling', 'agent.llm.input'];
    const after = ['agent.completed', 'agent.llm.output'];
    expect(
      families().filter((family) => family.startsWith('agent.') && !family.endsWith('delta')),
    ).toEqual([
      ...start,
      'agent.model.resolving',
      ...attempt,
      ...after,
      ...start,
      ...attempt,
      ...after,
    ]);
    const starts = outcomes.filter(({ event }) => event.family === 'agent.starting');
    expect(starts.map(({ payload }) => payload)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
    const ends = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(ends.map(({ payload }) => payload)).toMatchObject([
      { success: false },
      { success: true },
    ]);
  });

  it('writes and asks the prompt once where nothing was done, and goes on from what was', async () => {
    const { provider, asked } = flaky(1);
    const { result, written } = turnLab({ provider, retry: { maxAttempts: 2 } });
    const ended = await result;
    expect(written.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
    expect(ended.written).toEqual(written);
    expect(asked.map(({ history }) => history)).toEqual([[], []]);

    let calls = 0;
    const done: (readonly string[] | undefined)[] = [];
    const works = scripted(async function* ({ history, begun }) {
      expect(history).toEqual([]);
      done.push(begun?.map(({ role }) => role));
      yield start;
      yield* said('', { calls: [{ id: `t${++calls}`, name: 'read' }] });
      yield toolStart(`t${calls}`);
      yield toolEnd(`t${calls}`);
      yield calls === 1 ? end({ error: { subtype: 'error', message: 'overflow' } }) : end();
    });
    const again = turnLab({
      provider: works,
      retry: { maxAttempts: 2, shouldRetry: ({ toolCalls }) => toolCalls === 1 },
    });
    expect(await again.result).toMatchObject({ status: 'completed' });
    expect(done).toEqual([undefined, ['assistant', 'toolResult']]);
    expect(again.written.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'toolResult'],
      ...['assistant', 'toolResult'],
    ]);
  });

  it('does not repeat, unless told to, what has said something or called a tool', async () => {
    let runs = 0;
    const speaks = scripted(async function* () {
      runs++;
      yield start;
      yield* said('half an answer');
      throw new Error('connection reset');
    });
    const { result } = turnLab({ provider: speaks, retry: { maxAttempts: 5 } });
    expect(await result).toMatchObject({ status: 'failed', assistantTexts: ['half an answer'] });
    expect(runs).toBe(1);
  });

  it('gives up after the last attempt, with its error', async () => {
    const { provider, asked } = flaky();
    const { result } = turnLab({ provider, retry: { maxAttempts: 3 } });
    const { status, error, attempts } = await result;
    expect({ status, error: error?.message, attempts: attempts.length }).toEqual({
      status: 'failed',
      error: 'error: overloaded',
      attempts: 3,
    });
    expect(asked).toHaveLength(3);
  });

  it('is not repeated where a stage failed, no model was there, or it was aborted', async () => {
    const asked: AgentAttempt[] = [];
    const shouldRetry = (failed: AgentAttempt) => asked.push(failed) > 0;
    const nobody = turnLab({ model: 'none', retry: { maxAttempts: 3, shouldRetry } });
    expect((await nobody.result).error?.code).toBe('no-model');
    const abort = new AbortController();
    const aborted = turnLab({
      signal: abort.signal,
      retry: { maxAttempts: 3, shouldRetry },
      provider: scripted(async function* () {
        yield start;
        abort.abort();
        throw new Error('stopped');
      }),
    });
    expect((await aborted.result).status).toBe('aborted');
    expect(asked).toEqual([]);
  });

  it('waits for shouldRetry, but no longer than the turn is wanted', async () => {
    const abort = new AbortController();
    const { provider } = flaky();
    const { result, clock } = turnLab({
      provider,
      signal: abort.signal,
      retry: { maxAttempts: 3, shouldRetry: () => new Promise(() => undefined) },
    });
    await clock.advance(60_000);
    abort.abort();
    expect(await result).toMatchObject({ attempts: [{ attempt: 1 }] });
  });

  it('ends where shouldRetry throws, and says so', async () => {
    const { provider } = flaky();
    const { result, log } = turnLab({
      provider,
      retry: {
        maxAttempts: 3,
        shouldRetry: () => {
          throw new Error('no policy');
        },
      },
    });
    expect((await result).attempts).toHaveLength(1);
    expect(log.entries).toContainEqual({
      level: 'error',
      message: 'retry.shouldRetry threw, so there is no other attempt',
      fields: { error: expect.objectContaining({ message: 'no policy' }) },
    });
  });
});

describe('a turn with fallbacks', () => {
  const fallbacks = [
    { provider: 'scripted', model: 'worse' },
    { provider: 'scripted', model: 'gone' },
    { provider: 'other', model: 'm' },
  ];
  const other: AgentProvider = scripted(
    async function* () {
      yield start;
      yield* said('from the other');
      yield end();
    },
    { id: 'other' },
  );

  it('calls them in order, passes over what nobody offers, and reports who answers', async () => {
    const { provider } = flaky();
    const { result, outcomes, log } = turnLab({
      provider,
      providers: [provider, other],
      retry: { fallbacks },
    });
    expect(await result).toMatchObject({
      status: 'completed',
      assistantTexts: ['from the other'],
      attempts: [
        { model: { model: 'bad' } },
        { model: { model: 'worse' } },
        { model: { provider: 'other', model: 'm' } },
      ],
    });
    expect(log.entries.find(({ level }) => level === 'warn')).toMatchObject({
      message: 'a fallback is passed over',
      fields: { detail: expect.stringContaining('provider "scripted" has no model "gone"') },
    });
    const outputs = outcomes.filter(({ event }) => event.family === 'agent.llm.output');
    const [first, , last] = outputs.map(({ payload }) => payload as { fallback?: object });
    expect(first).not.toHaveProperty('fallback');
    expect(last).toMatchObject({
      provider: 'other',
      model: 'm',
      fallback: {
        phase: 'active',
        selectedProvider: 'scripted',
        selectedModel: 'bad',
        activeProvider: 'other',
        activeModel: 'm',
        reasonSummary: 'error: overloaded',
        attemptSummaries: ['scripted/bad: error: overloaded', 'scripted/worse: error: overloaded'],
      },
    });
  });

  it('tells llm_output of every attempt, also of a fallback that says nothing', async () => {
    const { provider } = flaky();
    const models: string[] = [];
    const { result } = turnLab({
      provider,
      retry: { fallbacks: [{ provider: 'scripted', model: 'worse' }] },
      contribute: (kernel) =>
        registerLegacyHook(kernel, {
          pluginId: 'audit',
          hookName: 'llm_output',
          handler: ({ model }) => void models.push(model),
        }),
    });
    await result;
    expect(models).toEqual(['bad', 'worse']);
  });
});

describe('a provider that says when it may be asked again (§16.27)', () => {
  const busy = (retryAfterMs: number) => {
    let asked = 0;
    const provider = scripted(async function* () {
      asked++;
      if (asked === 1) throw Object.assign(new Error('slow down'), { retryAfterMs });
      yield start;
      yield* said('here');
      yield end();
    });
    return { provider, asked: () => asked };
  };

  it('is asked again then, and not before', async () => {
    const clock = virtualClock();
    const { provider, asked } = busy(7_000);
    const { result } = turnLab({ provider, clock, retry: { maxAttempts: 2 } });
    await clock.advance(6_999);
    expect(asked()).toBe(1);
    await clock.advance(1);
    expect(await result).toMatchObject({ status: 'completed', assistantTexts: ['here'] });
  });

  it('is not asked again if that is too late, and its error says when', async () => {
    const { provider, asked } = busy(60_001);
    const { result } = turnLab({ provider, retry: { maxAttempts: 2 } });
    expect(await result).toMatchObject({
      status: 'failed',
      error: { code: 'provider-failed', message: 'slow down', retryAfterMs: 60_001 },
    });
    expect(asked()).toBe(1);
  });

  it('keeps no turn that is stopped meanwhile', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const { provider, asked } = busy(7_000);
    const { result } = turnLab({
      ...{ provider, clock, signal: stop.signal, retry: { maxAttempts: 2 } },
    });
    await clock.advance(1_000);
    stop.abort();
    await result;
    expect(asked()).toBe(1);
  });
});
