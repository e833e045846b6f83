import { describe, expect, it } from 'vitest';
import {
  isRunDriven,
  RunDispatcher,
  type RunSession,
  Trail,
} from '../../../src/agent/run/index.js';
import { cancel, type FamilyName } from '../../../src/kernel/internal.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { deferred } from '../../support/kernel-lab.js';

const at = { extensionId: 'test', id: 'probe' } as const;
const fields = { agentId: 'main', sessionKey: 'k', sessionId: 's', runId: 'r-1', trigger: 'user' };

/** A run that has begun, in a test's hands. */
async function begun(options: { session?: Partial<RunSession>; signal?: AbortSignal } = {}) {
  const test = createTestKernel();
  const session = { agentId: 'main', sessionKey: 'k', sessionId: 's', ...options.session };
  const { kernel, clock, log } = test;
  const trail = new Trail(kernel, undefined, { sessionId: 's', metadata: { runId: 'r-1' } });
  const signal = options.signal ?? new AbortController().signal;
  const run = new RunDispatcher({ trail, run: fields, session, clock, logger: log, signal });
  await run.start({ prompt: 'hello' });
  run.open({ id: 'claude', model: 'm', toolGate: 'enforce' });
  const play = async (...events: readonly SessionEvent[]) => {
    for (const event of events) {
      await run.take(event);
      run.told(event);
    }
  };
  const families = () => test.outcomes.map(({ event }) => event.family);
  const of = (family: FamilyName) => test.outcomes.filter(({ event }) => event.family === family);
  return { ...test, run, play, families, of };
}

const say = (text: string): SessionEvent => ({
  type: 'message_end',
  message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' },
});
const end: SessionEvent = { type: 'agent_end', messages: [] };
const call = (toolCallId: string, args = {}) => ({ toolCallId, toolName: 'Bash', args });
const starts = (toolCallId: string, args = {}): SessionEvent => ({
  type: 'tool_execution_start',
  ...call(toolCallId, args),
});
const ends = (toolCallId: string, result: unknown = 'ok', isError = false): SessionEvent => ({
  type: 'tool_execution_end',
  toolCallId,
  toolName: 'Bash',
  result,
  isError,
});
const compacts = (reason: 'threshold' | 'overflow' | 'manual' = 'threshold'): SessionEvent => ({
  type: 'auto_compaction_start',
  reason,
});
const compacted = (fields: object = {}): SessionEvent => ({
  type: 'auto_compaction_end',
  aborted: false,
  willRetry: false,
  ...fields,
});

describe('a run on its way into the pipeline', () => {
  it('is told in the order of seed 001, and ends with agent.completed and agent.llm.output (§16.1)', async () => {
    const { run, play, families } = await begun();
    const message = { role: 'assistant', content: [] } as const;
    await run.gate(call('t'));
    await play(
      { type: 'agent_start' },
      { type: 'message_start', message },
      starts('t'),
      ends('t'),
      say('done'),
      compacts(),
      compacted(),
      end,
    );
    expect(await run.complete()).toMatchObject({ status: 'completed', assistantTexts: ['done'] });
    expect(families()).toEqual([
      'agent.starting',
      'agent.tool.calling',
      'agent.tool.called',
      'transcript.message.writing',
      'transcript.tool-result.persisting',
      'transcript.message.writing',
      'compaction.before',
      'compaction.after',
      'agent.completed',
      'agent.llm.output',
    ]);
  });

  it('is completed once, however often it is asked for (§16.1)', async () => {
    const { run, play, of } = await begun();
    await play(end);
    expect(await run.complete()).toBe(await run.complete());
    expect(of('agent.completed')).toHaveLength(1);
  });

  it('has nothing after its agent_end', async () => {
    const { run, play, of } = await begun();
    await play(end, say('late'), starts('t'), ends('t'));
    await run.complete();
    expect([...of('transcript.message.writing'), ...of('agent.tool.called')]).toEqual([]);
  });

  it('is told as aborted when nobody wants the rest of it, and as it ended when it had ended', async () => {
    const left = await begun();
    expect(await left.run.complete('abandoned')).toMatchObject({ status: 'aborted' });
    const over = await begun();
    await over.play(end);
    expect(await over.run.complete('abandoned')).toMatchObject({ status: 'completed' });
  });

  it('is driven from its start until it is complete, by whoever drives it (§16.4)', async () => {
    const { run, kernel } = await begun();
    expect(isRunDriven(kernel, 'r-1')).toBe(true);
    await run.complete();
    expect(isRunDriven(kernel, 'r-1')).toBe(false);
  });

  it('can only observe the transcript that another system writes (§16.5)', async () => {
    const { run, kernel, of, play } = await begun();
    kernel.contribute({
      ...at,
      family: 'transcript.message.writing',
      class: 'veto',
      handler: () => cancel('suppressed'),
    });
    await play(say('kept'), end);
    expect(of('transcript.message.writing')).toMatchObject([
      { status: 'passed', failures: [{ kind: 'observe-only' }] },
    ]);
    expect((await run.complete()).written).toHaveLength(1);
  });
});

describe('the tool calls of a run', () => {
  it('tells of a call that it could only see also after the run was stopped', async () => {
    const stop = new AbortController();
    const { kernel, run, play, of } = await begun({ signal: stop.signal });
    const seen: unknown[] = [];
    kernel.contribute({
      ...at,
      family: 'agent.tool.calling',
      class: 'observer',
      handler: ({ payload }) => {
        seen.push(payload.toolCallId);
      },
    });
    run.open({ id: 'recorded', toolGate: 'observe-only' });
    stop.abort();
    await play(starts('t1'), ends('t1'));
    expect(seen).toEqual(['t1']);
    expect(of('agent.tool.calling').map(({ status }) => status)).toEqual(['passed']);
  });

  it('are judged once each, however often the gate is asked (§16.3)', async () => {
    const { run, of } = await begun();
    const answers = await Promise.all([run.gate(call('t')), run.gate(call('t'))]);
    expect(answers).toEqual([await run.gate(call('t')), answers[0]]);
    expect(of('agent.tool.calling')).toHaveLength(1);
  });

  it('are judged with what the gate is asked about, also where an event came first with less', async () => {
    const { run, play } = await begun();
    await play(starts('t', {}));
    expect(await run.gate(call('t', { command: 'ls' }))).toEqual({
      allowed: true,
      args: { command: 'ls' },
    });
  });

  it('are judged anew when an asker had given up, and not when it had not (§16.3)', async () => {
    const { run, kernel, of } = await begun();
    const waiting = deferred<null>();
    kernel.contribute({
      ...at,
      family: 'agent.tool.calling',
      class: 'veto',
      handler: () => waiting.promise,
    });
    const asker = new AbortController();
    const first = run.gate(call('t'), asker.signal);
    asker.abort();
    expect(await first).toMatchObject({ allowed: false });
    const second = run.gate(call('t'));
    waiting.resolve(null);
    expect(await second).toMatchObject({ allowed: true });
    expect(of('agent.tool.calling').map(({ status }) => status)).toEqual(['failed', 'passed']);
  });

  it('are refused without a dispatch once the run has ended', async () => {
    const { run, of } = await begun();
    await run.complete();
    expect(await run.gate(call('t'))).toEqual({ allowed: false, reason: 'the run has ended' });
    expect(of('agent.tool.calling')).toEqual([]);
  });

  it('are given up when the run ends while they are decided, before it is told as completed', async () => {
    const { run, kernel, families } = await begun();
    kernel.contribute({
      ...at,
      family: 'agent.tool.calling',
      class: 'veto',
      handler: () => new Promise<never>(() => undefined),
    });
    const asked = run.gate(call('t'));
    await run.complete();
    expect(await asked).toMatchObject({ allowed: false });
    expect(families().slice(-4)).toEqual([
      'agent.tool.calling',
      'agent.tool.called',
      'agent.completed',
      'agent.llm.output',
    ]);
  });

  it('are told of when they were refused and no event ever ended them: an audit misses none', async () => {
    const { run, kernel, of, play } = await begun();
    kernel.contribute({
      ...at,
      family: 'agent.tool.calling',
      class: 'veto',
      handler: () => cancel('policy', { text: 'not here' }),
    });
    await run.gate({ ...call('t'), subagentId: 'a-1' });
    await play(end);
    await run.complete();
    expect(of('agent.tool.called')).toMatchObject([
      { payload: { toolCallId: 't', isError: true, error: 'not here' } },
    ]);
  });

  it('say whose they are where a subagent makes them, and write no transcript', async () => {
    const { run, of } = await begun();
    await run.report({ kind: 'tool_started', call: { ...call('t'), subagentId: 'a-1' } });
    await run.report({
      kind: 'tool_ended',
      end: { toolCallId: 't', toolName: 'Bash', result: 'x', isError: false, subagentId: 'a-1' },
    });
    const told = [...of('agent.tool.calling'), ...of('agent.tool.called')];
    expect(told.map(({ event }) => event.metadata)).toEqual([
      { runId: 'r-1', subagentId: 'a-1' },
      { runId: 'r-1', subagentId: 'a-1' },
    ]);
    expect(of('transcript.tool-result.persisting')).toEqual([]);
  });
});

describe('the compactions of a run', () => {
  it.each([
    ['threshold', 'auto'],
    ['overflow', 'overflow'],
    ['manual', 'manual'],
  ] as const)(
    'that come by %s have the cause %s, before and after (§16.6)',
    async (reason, cause) => {
      const { run, play, of } = await begun();
      await play(compacts(reason), compacted(), end);
      await run.complete();
      expect(of('compaction.before')[0]?.payload).toMatchObject({ ...fields, cause });
      expect(of('compaction.after')[0]?.payload).toMatchObject({ ...fields, cause });
    },
  );

  it('count the transcript where it is known, and say nothing of it where it is not (§16.6)', async () => {
    const known = await begun({
      session: { history: [{ role: 'user', content: 'before' }], append: () => undefined },
    });
    await known.play(say('one'), compacts(), compacted(), end);
    await known.run.complete();
    expect(known.of('compaction.before')[0]?.payload).toMatchObject({ messageCount: 2 });
    const unknown = await begun();
    await unknown.play(say('one'), compacts(), compacted(), end);
    await unknown.run.complete();
    expect(unknown.of('compaction.before')[0]?.payload).not.toHaveProperty('messageCount');
  });

  it('are told each time they end, with willRetry; those that failed are not counted (§16.6)', async () => {
    const { run, play, of } = await begun();
    await play(
      compacts('overflow'),
      compacted({ willRetry: true, result: { tokensBefore: 9, summary: 'ab' } }),
      compacts('overflow'),
      compacted({ errorMessage: 'no room' }),
      end,
    );
    await run.complete();
    expect(of('compaction.after').map(({ payload }) => payload)).toMatchObject([
      { willRetry: true, compactionCount: 1, tokensBefore: 9, summaryLengthChars: 2 },
      { willRetry: false, compactionCount: 1 },
    ]);
  });

  it('hold the stream up nowhere, and the end until they are told (seed 001)', async () => {
    const { run, kernel, play, families, of } = await begun();
    const saved = deferred<null>();
    kernel.contribute({
      ...at,
      family: 'compaction.before',
      class: 'augmenter',
      handler: () => saved.promise,
    });
    await play(compacts(), compacted(), say('goes on'), end);
    expect(of('transcript.message.writing')).toHaveLength(1);
    const completing = run.complete();
    await Promise.resolve();
    expect(of('agent.completed')).toEqual([]);
    saved.resolve(null);
    await completing;
    expect(families().slice(-4)).toEqual([
      'compaction.before',
      'compaction.after',
      'agent.completed',
      'agent.llm.output',
    ]);
  });

  it('reach their handlers before the listener hears of the start, and after it hears of the end (seed 001)', async () => {
    const { run, kernel } = await begun();
    const heard: string[] = [];
    for (const family of ['compaction.before', 'compaction.after'] as const)
      kernel.contribute({
        ...at,
        id: family,
        family,
        class: 'observer',
        handler: () => void heard.push(family),
      });
    for (const event of [compacts(), compacted()]) {
      await run.take(event);
      heard.push(event.type);
      run.told(event);
    }
    await run.complete();
    expect(heard).toEqual([
      'compaction.before',
      'auto_compaction_start',
      'auto_compaction_end',
      'compaction.after',
    ]);
  });

  it('and what goes on beside them do not undo each other’s annotations (§16.6)', async () => {
    const { run, kernel, play, of } = await begun();
    const saved = deferred<{ memoryKeys: string[] }>();
    kernel.contribute({
      ...at,
      family: 'compaction.before',
      class: 'augmenter',
      handler: () => saved.promise,
    });
    kernel.contribute({
      ...at,
      id: 'notes',
      family: 'agent.tool.called',
      class: 'augmenter',
      handler: () => ({ notes: ['listed'] }),
    });
    await play(compacts(), starts('t'), ends('t'));
    saved.resolve({ memoryKeys: ['saved'] });
    await play(compacted(), end);
    await run.complete();
    expect(of('compaction.after')[0]?.annotations).toMatchObject({ memoryKeys: ['saved'] });
    expect(of('agent.completed')[0]?.annotations).toMatchObject({ notes: ['listed'] });
  });

  it('fail into the log, and the run goes on', async () => {
    const { run, kernel, log, play } = await begun();
    await kernel.close();
    await play(compacts(), end);
    await run.complete();
    expect(log.entries.find(({ level }) => level === 'error')).toMatchObject({
      message: 'a compaction was not dispatched',
      fields: { error: { message: expect.stringContaining('closed') } },
    });
  });

  it('fail into the log, too, if their result cannot be read', async () => {
    const { run, log, play } = await begun();
    const broken = new Error('the summary is gone');
    const result = {
      get summary(): string {
        throw broken;
      },
    };
    await play(compacts(), compacted({ result }), end);
    await run.complete();
    expect(log.entries.find(({ level }) => level === 'error')).toMatchObject({
      message: 'a compaction was not dispatched',
      fields: { error: broken },
    });
  });
});
