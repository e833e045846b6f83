import { describe, expect, it } from 'vitest';
import { ActiveRuns, runAgentTurn } from '../../src/agent/index.js';
import { isRunDriven } from '../../src/agent/run/index.js';
import type { SessionEvent } from '../../src/sdk/stream/index.js';
import { virtualClock } from '../../src/testing/index.js';
import { end, said, scripted, start, type TurnLabOptions, turnLab } from '../support/turn-lab.js';

/** A provider that begins, and then never says anything again. */
const hangs = scripted(() => ({
  [Symbol.asyncIterator]: () => {
    const events: SessionEvent[] = [start];
    return {
      next: () => {
        const value = events.shift();
        return value === undefined
          ? new Promise<never>(() => undefined)
          : Promise.resolve({ done: false as const, value });
      },
    };
  },
}));

const never = (): Promise<never> => new Promise(() => undefined);
const throwing = (): never => {
  throw new Error('bad listener');
};

/** Ways in which a turn ends badly, and how it says so. */
const endings: readonly (readonly [name: string, options: TurnLabOptions, result: object])[] = [
  [
    'its provider hangs, and its time is up',
    { provider: hangs, timeoutMs: 5_000 },
    {
      status: 'failed',
      error: { code: 'timed-out', message: 'the turn took longer than 5000 ms' },
    },
  ],
  [
    'an augmenter of agent.starting hangs, and its time is up',
    {
      timeoutMs: 5_000,
      contribute: (kernel) =>
        kernel.contribute({
          ...{ extensionId: 'test', id: 'hangs' },
          family: 'agent.starting',
          class: 'augmenter',
          handler: never,
        }),
    },
    { status: 'failed', error: { code: 'timed-out' } },
  ],
  [
    'a raw callback never answers, and its time is up',
    { callbacks: { onEvent: never }, timeoutMs: 5_000 },
    { status: 'failed', error: { code: 'timed-out' } },
  ],
  [
    'a flush never ends, and its time is up',
    { callbacks: { onBlockReplyFlush: never }, timeoutMs: 5_000 },
    { status: 'failed', error: { code: 'timed-out' } },
  ],
  [
    'its transcript hangs, and its time is up',
    {
      session: { agentId: 'a', sessionKey: 'k', sessionId: 's', history: [], append: never },
      timeoutMs: 5_000,
    },
    { status: 'failed', error: { code: 'timed-out' } },
  ],
  [
    'its provider throws',
    {
      provider: scripted(async function* () {
        yield start;
        yield* said('before');
        throw new Error('connection reset');
      }),
      timeoutMs: 5_000,
    },
    { status: 'failed', error: { code: 'provider-failed' } },
  ],
  [
    'every callback throws',
    {
      callbacks: {
        onEvent: throwing,
        onPartialReply: throwing,
        onBlockReply: throwing,
        onBlockReplyFlush: throwing,
        onAgentEvent: throwing,
        onAssistantMessageStart: throwing,
      },
      timeoutMs: 5_000,
    },
    { status: 'completed', assistantTexts: ['hello'] },
  ],
  ['nothing happens to it', { timeoutMs: 5_000 }, { status: 'completed' }],
];

describe('a turn leaves nothing behind', () => {
  it.each(endings)('where %s (seed 001, run end cleanup)', async (_name, options, expected) => {
    const active = new ActiveRuns();
    const { result, clock, count, kernel } = turnLab({ active, graceMs: 500, ...options });
    expect(active.runs).toEqual([{ runId: 'r-1', sessionKey: 'k', sessionId: 's' }]);
    expect(isRunDriven(kernel, 'r-1')).toBe(true);
    await clock.advance(10_000);
    expect(await result).toMatchObject(expected);
    expect(count('agent.completed')).toBe(1);
    expect(active.runs).toEqual([]);
    expect(isRunDriven(kernel, 'r-1')).toBe(false);
    await clock.advance(60_000); // the budget of a stage that was aborted runs out by itself
    expect(clock.pending).toBe(0);
  });

  it('and tells nothing more once it has ended, whatever its provider still yields', async () => {
    const heard: string[] = [];
    let late: (() => void) | undefined;
    const abort = new AbortController();
    const { result, clock, families } = turnLab({
      signal: abort.signal,
      graceMs: 100,
      provider: scripted(async function* () {
        yield start;
        await new Promise<void>((resolve) => (late = resolve));
        yield* said('too late');
        yield end();
      }),
      callbacks: {
        onEvent: ({ type }) => void heard.push(type),
        onPartialReply: () => void heard.push('partial'),
        onBlockReply: () => void heard.push('block'),
      },
    });
    await clock.advance(1);
    abort.abort();
    await clock.advance(100);
    expect(await result).toMatchObject({ status: 'aborted' });
    const before = families().length;
    late?.();
    await clock.advance(1_000);
    expect(heard).toEqual(['agent_start']);
    expect(families()).toHaveLength(before);
  });
});

it('ends the reply callbacks: a flush that comes back too late causes nothing more', async () => {
  const heard: string[] = [];
  let comeBack: (() => void) | undefined;
  const { result, clock } = turnLab({
    timeoutMs: 1_000,
    graceMs: 100,
    callbacks: {
      onBlockReplyFlush: () => new Promise<void>((resolve) => (comeBack = resolve)),
      onAgentEvent: ({ stream }) => void heard.push(stream),
    },
  });
  await clock.advance(2_000);
  expect(await result).toMatchObject({ error: { code: 'timed-out' } });
  const before = [...heard];
  comeBack?.();
  await clock.advance(1_000);
  expect(heard).toEqual(before);
  expect(heard).not.toContain('tool');
});

describe('the runs that are under way', () => {
  it('can be stopped by their session, and waited for', async () => {
    const active = new ActiveRuns();
    const { result, clock } = turnLab({ active, provider: hangs, graceMs: 100 });
    await clock.advance(1);
    const ended = active.ended('k', { clock });
    expect(active.abort('another')).toBe(0);
    expect(active.abort('k', 'a person said so')).toBe(1);
    expect(active.abort('k')).toBe(0); // it has been stopped already
    expect(active.has('k')).toBe(true);
    await clock.advance(100);
    expect(await result).toMatchObject({ status: 'aborted' });
    expect(await ended).toBe(true);
    expect(active.has('k')).toBe(false);
  });

  it('are waited for in bounds, and not at all where there is none', async () => {
    const clock = virtualClock();
    const active = new ActiveRuns();
    expect(await active.ended('k', { clock, timeoutMs: 1_000 })).toBe(true);
    using _run = active.begin({ runId: 'r', sessionKey: 'k', sessionId: 's' }, () => undefined);
    const ended = active.ended('k', { clock, timeoutMs: 1_000 });
    await clock.advance(1_000);
    expect(await ended).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('of every session can be stopped at once', () => {
    const active = new ActiveRuns();
    const stopped: string[] = [];
    for (const id of ['a', 'b'])
      active.begin({ runId: id, sessionKey: id, sessionId: id }, (why) =>
        stopped.push(`${id} ${String(why)}`),
      );
    expect(active.abort(undefined, 'ctrl-c')).toBe(2);
    expect(stopped).toEqual(['a ctrl-c', 'b ctrl-c']);
  });
});

it('never rejects, also where its kernel is closed', async () => {
  const { kernel, result } = turnLab();
  await result;
  await kernel.close();
  const closed = await runAgentTurn({
    kernel,
    provider: hangs,
    message: { text: 'hi' },
    runId: 'r-2',
    session: {
      ...{ agentId: 'a', sessionKey: 'k', sessionId: 's', history: [] },
      append: () => undefined,
    },
  });
  expect(closed).toMatchObject({ status: 'failed', error: { code: 'provider-failed' } });
});
