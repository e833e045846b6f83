import { describe, expect, it } from 'vitest';
import { runAgentTurn } from '../../src/agent/index.js';
import { isRunDriven } from '../../src/agent/run/index.js';
import { bridgeCsdk, type CsdkFrame, splitRuns } from '../../src/claude/index.js';
import { cancel, type FamilyName } from '../../src/kernel/internal.js';
import type { SessionEvent } from '../../src/sdk/stream/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { bridged, bridgedSession, frames, sdkSide } from '../support/bridge-lab.js';
import { deferred } from '../support/faults-clock.js';
import { recordings, visibleTexts } from '../support/recordings.js';

const { init, text, call, answer, result, system } = frames;
const at = { extensionId: 'test', id: 'probe' } as const;

/** The runs of a recording. */
function runsOf(lines: readonly string[]): readonly (readonly CsdkFrame[])[] {
  return splitRuns(lines.map((line) => JSON.parse(line) as CsdkFrame)); // recordings are known to be frames
}

const watch = { gate: 'observe-only', runId: 'r-1', prompt: 'hello' } as const;

describe('a bridged recording', () => {
  const all = recordings().flatMap(({ name, lines }) =>
    runsOf(lines).map((run, index) => [`${name} #${index + 1}`, run] as const),
  );

  it.each(all)('%s: tells each fact once, in the order of seed 001 (§18)', async (_, run) => {
    const { families, of, events } = await bridged(run, watch);
    const once = (family: FamilyName) => expect(of(family).length, family).toBe(1);
    once('agent.starting');
    once('agent.completed');
    expect(families()[0]).toBe('agent.starting');
    const last = families().slice(-2);
    expect(last).toContain('agent.completed');
    expect(last.at(-1)).toBe(of('agent.llm.output').length > 0 ? 'agent.llm.output' : last.at(-1));
    for (const family of ['agent.tool.calling', 'agent.tool.called'] as const) {
      const ids = of(family).map(({ payload }) => payload.toolCallId);
      expect(new Set(ids).size, family).toBe(ids.length);
    }
    const called = of('agent.tool.called').map(({ payload }) => payload.toolCallId);
    const calling = of('agent.tool.calling').map(({ payload }) => payload.toolCallId);
    expect(calling).toEqual(expect.arrayContaining(called));
    const counts = (type: SessionEvent['type']) =>
      events.filter((event) => event.type === type).length;
    expect(of('compaction.before')).toHaveLength(counts('auto_compaction_start'));
    expect(of('compaction.after')).toHaveLength(counts('auto_compaction_end'));
  });

  it.each(all)('%s: shows the texts that people saw, once (§18)', async (_, run) => {
    const { of } = await bridged(run, watch);
    const said = run.filter(({ error }) => error === undefined); // what tells of a failure is the run's error
    const seen = visibleTexts(said.map((frame) => JSON.stringify(frame)));
    const told = of('agent.llm.output').flatMap(({ payload }) => payload.assistantTexts);
    if (of('agent.llm.output').length > 0) expect(told.join('')).toBe(seen.join(''));
  });

  it.each(all)(
    '%s: carries session, correlation and run in every envelope (§18)',
    async (_, run) => {
      const { outcomes } = await bridged(run, watch);
      const [first] = outcomes;
      for (const { event } of outcomes) {
        expect(event).toMatchObject({
          sessionId: 's-1',
          agentId: 'main',
          correlationId: first?.event.eventId,
          metadata: { runId: 'r-1' },
        });
      }
    },
  );
});

describe('a bridged run', () => {
  const tool = [
    init(),
    text('m1', 'I look.'),
    call('t', 'Bash', { command: 'ls' }),
    answer('t', 'a\nb'),
    text('m2', 'Two files.'),
    result({ usage: { input_tokens: 3, output_tokens: 4 } }),
  ];

  it('goes through the stages of seed 001, in their order (§18.2)', async () => {
    const { families, written } = await bridged(tool);
    const stages = families().filter((family) => family !== 'agent.output.delta');
    expect(stages.slice(0, 4)).toEqual([
      'agent.starting',
      'agent.llm.input',
      'transcript.message.writing',
      'transcript.message.writing',
    ]);
    expect(stages.slice(-4)).toEqual([
      'transcript.message.writing',
      'transcript.message.writing',
      'agent.completed',
      'agent.llm.output',
    ]);
    expect(families()).toContain('agent.output.delta');
    expect(written.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'toolResult',
      'assistant',
    ]);
  });

  it('tells its end with what the frames say of it', async () => {
    const { of } = await bridged(tool);
    expect(of('agent.completed')[0]?.payload).toMatchObject({
      ...bridgedSession,
      runId: 'r-1',
      success: true,
      usage: { inputTokens: 3, outputTokens: 4 },
    });
    expect(of('agent.llm.output')[0]?.payload).toMatchObject({
      provider: 'anthropic',
      model: 'opus',
      assistantTexts: ['I look.', 'Two files.'],
    });
  });

  it('yields each event after the pipeline has had it', async () => {
    const seen: string[] = [];
    await bridged(tool, {
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.tool.called',
          class: 'observer',
          handler: () => void seen.push('agent.tool.called'),
        }),
      onEvent: ({ type }) => type === 'tool_execution_end' && seen.push(type),
    });
    expect(seen).toEqual(['agent.tool.called', 'tool_execution_end']);
  });

  it('says nothing of the prompt where it is not known, and no llm.input without the history (§18.3)', async () => {
    const { session, ...rest } = { session: bridgedSession, runId: 'r-1' };
    const test = createTestKernel();
    const bridge = bridgeCsdk(test.kernel, { session, ...rest });
    for await (const _ of bridge.run(tool));
    const families = test.outcomes
      .map(({ event }) => event.family)
      .filter((family) => family !== 'agent.output.delta');
    expect(families).not.toContain('agent.llm.input');
    expect(test.outcomes[0]?.payload).not.toHaveProperty('prompt');
    expect(families.slice(0, 2)).toEqual(['agent.starting', 'transcript.message.writing']);
  });

  it('can only be observed: a cancel and a patch there are failure entries (§11.1)', async () => {
    const { of, events } = await bridged(tool, {
      ...watch,
      session: bridgedSession,
      contribute: (kernel) => {
        kernel.contribute({
          ...at,
          family: 'agent.tool.calling',
          class: 'veto',
          handler: () => cancel('blocked'),
        });
        kernel.contribute({
          ...at,
          id: 'hush',
          family: 'transcript.message.writing',
          class: 'veto',
          handler: () => cancel('suppressed'),
        });
      },
    });
    expect(events.at(-1)).toMatchObject({ type: 'agent_end' });
    const observed = { status: 'passed', failures: [{ kind: 'observe-only' }] };
    expect(of('agent.tool.calling')).toMatchObject([observed]);
    for (const write of of('transcript.message.writing')) expect(write).toMatchObject(observed);
  });

  it('follows the dispatch that it is given, and carries its refs', async () => {
    const { kernel, outcomes } = createTestKernel();
    const before = await kernel.dispatch('agent.starting', { runId: 'r-0' });
    const bridge = bridgeCsdk(kernel, {
      session: bridgedSession,
      runId: 'r-1',
      gate: 'observe-only',
      after: before,
      refs: { metadata: { tenant: 7 }, conversationRef: { channel: 'c', id: '1' } },
    });
    for await (const _ of bridge.run(tool));
    for (const { event } of outcomes.slice(1))
      expect(event).toMatchObject({
        correlationId: before.event.eventId,
        conversationRef: { channel: 'c', id: '1' },
        metadata: { tenant: 7, runId: 'r-1' },
      });
  });

  it('tells a compaction that frames announce twice as one (§18.4)', async () => {
    const { of } = await bridged([
      init(),
      text('m1', 'a'),
      system('status', { status: 'compacting' }),
      system('status', { status: null, compact_result: 'success' }),
      system('compact_boundary', { compact_metadata: { trigger: 'manual', pre_tokens: 9 } }),
      text('m2', 'b'),
      result(),
    ]);
    expect(of('compaction.before')).toHaveLength(1);
    expect(of('compaction.after')).toMatchObject([{ payload: { willRetry: false } }]);
  });
});

describe('the end of a bridged run', () => {
  const ending = (lab: Awaited<ReturnType<typeof bridged>>) =>
    lab.of('agent.completed')[0]?.payload;

  it('is told once, as an error, where the stream throws or just ends', async () => {
    const throws = await bridged(async function* () {
      yield text('m1', 'before');
      throw new Error('the process died');
    });
    expect(ending(throws)).toMatchObject({ success: false, aborted: false });
    expect(ending(throws)?.error).toMatch(/the process died/);
    const ends = await bridged([text('m1', 'a')]);
    expect(ending(ends)?.error).toMatch(/stream_closed/);
  });

  it('is told as aborted where its signal aborts, or where the reader leaves', async () => {
    const abort = new AbortController();
    const stopped = await bridged(
      async function* () {
        yield text('m1', 'a');
        await undefined;
        abort.abort();
        await new Promise(() => undefined);
      },
      { signal: abort.signal },
    );
    expect(ending(stopped)).toMatchObject({ success: false, aborted: true });
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    for await (const event of bridge.run([init(), text('m1', 'a'), result()]))
      if (event.type === 'message_start') break;
    const completed = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(completed).toMatchObject([{ payload: { aborted: true } }]);
  });

  it('lets go of the stream when its reader leaves', async () => {
    let released = false;
    async function* endless() {
      try {
        for (let i = 0; ; i++) yield text(`m${i}`, 'a');
      } finally {
        released = true;
      }
    }
    const { kernel } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    for await (const event of bridge.run(endless())) if (event.type === 'message_end') break;
    expect(released).toBe(true);
  });

  it.each([0, 1, 4])(
    'lets go of the stream, also while its frame %i is waited for: its reader leaves, or it is aborted (§18.2)',
    async (at) => {
      const [start, ...rest] = [init(), text('m1', 'a'), text('m1', 'b'), text('m2', 'c')];
      for (const how of ['leaves', 'aborts']) {
        const { kernel, outcomes } = createTestKernel();
        const told = { returned: 0 };
        const waiting = deferred();
        const given = [start, ...rest].slice(0, at);
        const source: AsyncIterableIterator<CsdkFrame> = {
          [Symbol.asyncIterator]: () => source,
          next() {
            const frame = given.shift();
            if (frame !== undefined) return Promise.resolve({ done: false, value: frame });
            waiting.resolve(undefined);
            return new Promise(() => undefined);
          },
          async return() {
            told.returned++;
            return { done: true, value: undefined };
          },
        };
        const abort = new AbortController();
        const events = bridgeCsdk(kernel, {
          session: bridgedSession,
          runId: 'r-1',
          signal: abort.signal,
        }).run(source);
        const read = (async () => {
          for await (const _ of events);
        })();
        await waiting.promise;
        if (how === 'leaves') await events.return(undefined);
        else abort.abort();
        await read;
        expect(told.returned, how).toBe(1);
        expect(isRunDriven(kernel, 'r-1'), how).toBe(false);
        const completed = outcomes.filter(({ event }) => event.family === 'agent.completed');
        expect(completed, how).toMatchObject([{ payload: { aborted: true, success: false } }]);
      }
    },
  );

  it('is told as aborted where its gate began it, and its reader leaves before it reads (§18.2)', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    await sdkSide(bridge).pre('t', 'Bash', {});
    await bridge.run([init()]).return(undefined);
    expect(outcomes.map(({ event }) => event.family).slice(0, 4)).toEqual([
      'agent.starting',
      'agent.tool.calling',
      'agent.tool.called', // owed to each call that was judged (§16.3)
      'agent.completed',
    ]);
    expect(isRunDriven(kernel, 'r-1')).toBe(false);
  });

  it('is told where the transcript cannot be written, and the reader is told why', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, {
      session: {
        ...bridgedSession,
        append: async () => {
          throw new Error('disk full');
        },
      },
      runId: 'r-1',
    });
    const read = async () => {
      for await (const _ of bridge.run([text('m1', 'a'), result()]));
    };
    await expect(read()).rejects.toThrow(/disk full/);
    const completed = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(completed).toMatchObject([{ payload: { error: expect.stringMatching(/disk full/) } }]);
  });
});

describe('a run that somebody drives already', () => {
  const refused = expect.objectContaining({ code: 'run-driven' });

  it('is refused by a bridge: a turn drives it, or another bridge (§16.4)', async () => {
    const { kernel } = createTestKernel();
    const options = { session: bridgedSession, runId: 'r-1' };
    const first = bridgeCsdk(kernel, options);
    const second = bridgeCsdk(kernel, options);
    const reading = first.run([text('m1', 'a'), result()]);
    await reading.next();
    expect(isRunDriven(kernel, 'r-1')).toBe(true);
    expect(() => bridgeCsdk(kernel, options)).toThrow(refused);
    await expect(second.run([]).next()).rejects.toThrow(refused);
    for await (const _ of reading);
    expect(isRunDriven(kernel, 'r-1')).toBe(false);
  });

  it('is refused inside the turn that drives it: there the turn tells its facts (§16.4)', async () => {
    const { kernel, outcomes } = createTestKernel();
    const result = await runAgentTurn({
      kernel,
      session: { ...bridgedSession, history: [], append: () => undefined },
      message: { text: 'hello' },
      runId: 'r-1',
      provider: {
        id: 'doubled',
        models: ['m'],
        toolGate: 'enforce',
        run: ({ runId }) => bridgeCsdk(kernel, { session: bridgedSession, runId }).run([]),
      },
    });
    expect(result.error?.message).toMatch(/Run "r-1" already has a dispatcher/);
    const completed = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(completed).toHaveLength(1);
  });

  it('is refused to the second of two bridges that begin at once, and told once (§16.4)', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridges = [0, 1].map(() => bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' }));
    const read = async (bridge: (typeof bridges)[number]) => {
      for await (const _ of bridge.run([text('m1', 'a'), result()]));
    };
    const [first, second] = await Promise.allSettled(bridges.map(read));
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({ status: 'rejected', reason: refused });
    const completed = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(completed).toHaveLength(1);
  });

  it('is refused where its gate was asked first, and the calls are denied (§16.4)', async () => {
    const { kernel, outcomes } = createTestKernel();
    const options = { session: bridgedSession, runId: 'r-1' };
    const late = bridgeCsdk(kernel, options);
    const reading = bridgeCsdk(kernel, options).run([text('m1', 'a'), result()]);
    await reading.next();
    expect(JSON.stringify(await sdkSide(late).pre('t', 'Bash', {}))).toMatch(
      /deny.*already has a dispatcher/,
    );
    await expect(late.run([]).next()).rejects.toThrow(refused);
    for await (const _ of reading);
    const completed = outcomes.filter(({ event }) => event.family === 'agent.completed');
    expect(completed).toHaveLength(1);
  });

  it('is free again where it could not begin', async () => {
    const { kernel } = createTestKernel();
    await kernel.close();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    await expect(bridge.run([]).next()).rejects.toThrow(/closed/);
    expect(isRunDriven(kernel, 'r-1')).toBe(false);
  });

  it('tells nothing more of what its hooks say after its end', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    const sdk = sdkSide(bridge);
    await sdk.pre('p', 'Task', {}, { agent_id: 'a-0' });
    for await (const _ of bridge.run([text('m1', 'a'), result()]));
    const told = outcomes.length;
    await sdk.hook('SubagentStart', { agent_id: 'a-1' });
    await new Promise((resolve) => setImmediate(resolve)); // everything that it has begun
    expect(outcomes).toHaveLength(told);
  });

  it('is refused by its own bridge, when it is read twice (§16.4)', async () => {
    const { kernel, outcomes } = createTestKernel();
    const bridge = bridgeCsdk(kernel, { session: bridgedSession, runId: 'r-1' });
    for await (const _ of bridge.run([text('m1', 'a'), result()]));
    const told = outcomes.length;
    await expect(bridge.run([result()]).next()).rejects.toThrow(refused);
    expect(outcomes).toHaveLength(told);
  });
});
