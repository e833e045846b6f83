import { describe, expect, it, vi } from 'vitest';
import type { FamilyName, Outcome } from '../../../src/kernel/internal.js';
import type { AgentEventsOptions } from '../../../src/openclaw/agent-events/agent-events.js';
import { bridgeAgentEvents } from '../../../src/openclaw/agent-events/bridge-agent-events.js';
import type { AgentEvent } from '../../../src/openclaw/agent-events/event.js';
import { agentEventRows } from '../../../src/openclaw/agent-events/rows.js';
import { collectingLogger, createTestKernel, samplePayload } from '../../../src/testing/index.js';

function lab(options: AgentEventsOptions = {}) {
  const test = createTestKernel();
  const logger = collectingLogger();
  const bus = bridgeAgentEvents(test.kernel, { logger, clock: test.clock, ...options });
  const heard: AgentEvent[] = [];
  const listen = () => bus.onAgentEvent((event) => void heard.push(event));
  const emit = (stream: string, data: Record<string, unknown>, runId = 'r-1') =>
    bus.emitAgentEvent({ runId, stream, data });
  const families = () => test.outcomes.map(({ event }) => event.family);
  return { ...test, bus, logger, heard, listen, emit, families };
}

/** Data that fit, by stream and phase. */
const samples: Readonly<Record<string, Record<string, unknown>>> = {
  'lifecycle start': { startedAt: 5 },
  'lifecycle end': { startedAt: 5, endedAt: 9, stopReason: 'stop' },
  'lifecycle error': { error: 'gone', endedAt: 9 },
  'lifecycle fallback': { activeProvider: 'p', activeModel: 'm', reasonSummary: 'busy' },
  'lifecycle fallback_cleared': { selectedProvider: 'q', selectedModel: 'n' },
  'tool start': { name: 'exec', toolCallId: 't-1', args: { command: 'ls' } },
  'tool update': { name: 'exec', toolCallId: 't-1', partialResult: 'a' },
  'tool result': { name: 'exec', toolCallId: 't-1', isError: false, meta: 'ls', result: 'ab' },
  assistant: { text: 'Hello', delta: 'lo', mediaUrls: ['u'] },
  thinking: { text: 'Hm', delta: 'm' },
  'compaction start': {},
  'compaction end': { willRetry: true },
};
const common = { runId: 'r-1', sourceSeq: 1, sessionKey: 'agent:main:main' };
const becomes: Readonly<Record<string, Record<string, unknown>>> = {
  'lifecycle start': { startedAtMs: 5, isHeartbeat: true, verboseLevel: 'on' },
  'lifecycle end': { success: true, startedAtMs: 5, endedAtMs: 9, stopReason: 'stop' },
  'lifecycle error': { success: false, error: 'gone', endedAtMs: 9 },
  'lifecycle fallback': {
    provider: 'p',
    model: 'm',
    assistantTexts: [],
    fallback: { phase: 'active', activeProvider: 'p', activeModel: 'm', reasonSummary: 'busy' },
  },
  'lifecycle fallback_cleared': {
    provider: 'q',
    model: 'n',
    assistantTexts: [],
    fallback: { phase: 'cleared', selectedProvider: 'q', selectedModel: 'n' },
  },
  'tool start': { toolName: 'exec', toolCallId: 't-1', params: { command: 'ls' } },
  'tool update': {
    kind: 'tool-progress',
    toolName: 'exec',
    toolCallId: 't-1',
    partialResult: 'a',
  },
  'tool result': {
    toolName: 'exec',
    toolCallId: 't-1',
    params: {},
    isError: false,
    meta: 'ls',
    result: 'ab',
  },
  assistant: { kind: 'text', text: 'Hello', delta: 'lo', mediaUrls: ['u'] },
  thinking: { kind: 'thinking', text: 'Hm', delta: 'm' },
  'compaction start': { cause: 'auto' },
  'compaction end': { cause: 'auto', willRetry: true },
};
const mapped = agentEventRows.filter(({ parts }) => parts.length > 0);
const nameOf = ({ stream, phase }: { readonly stream: string; readonly phase?: string }) =>
  phase === undefined ? stream : `${stream} ${phase}`;

describe('an agent event', () => {
  it.each(mapped.map((row) => [nameOf(row), row] as const))(
    '%s becomes its family',
    async (name, { stream, phase, parts }) => {
      const { bus, emit, outcomes } = lab();
      bus.registerAgentRunContext('r-1', {
        sessionKey: 'agent:main:main',
        isHeartbeat: true,
        verboseLevel: 'on',
      });
      emit(stream, { ...(phase !== undefined && { phase }), ...samples[name] });
      await bus.idle();
      expect(outcomes.map(({ event }) => event.family)).toEqual([parts[0]?.family]);
      expect(outcomes[0]?.payload).toEqual({ ...common, ...becomes[name] });
      expect(bus.stats()).toMatchObject({ emitted: 1, dispatched: 1, misfits: 0 });
    },
  );

  it.each(mapped.map((row) => [nameOf(row), row] as const))(
    '%s is what listeners hear when a turn dispatches its family',
    async (name, { stream, phase, parts: [part] }) => {
      const { bus, heard, listen, kernel } = lab();
      listen();
      const family = part?.family as FamilyName;
      const payload = { ...common, ...becomes[name] };
      if (family === 'agent.output.delta') kernel.dispatchSync(family, payload as never);
      else await kernel.dispatch(family as 'agent.starting', payload as never);
      expect(heard).toEqual([
        {
          runId: 'r-1',
          stream,
          data: { ...(phase !== undefined && { phase }), ...samples[name] },
          sessionKey: 'agent:main:main',
          seq: 1,
          ts: expect.any(Number),
        },
      ]);
      expect(bus.stats()).toMatchObject({ told: 1, dispatched: 0 });
    },
  );

  it('reaches its listeners before emit returns, in order, and before the pipeline', async () => {
    const { bus, emit, kernel } = lab();
    const order: string[] = [];
    kernel.contribute({
      family: 'agent.starting',
      class: 'observer',
      extensionId: 'acme',
      id: 'start',
      handler: () => void order.push('pipeline'),
    });
    bus.onAgentEvent(() => void order.push('one'));
    bus.onAgentEvent(() => void order.push('two'));
    emit('lifecycle', { phase: 'start' });
    order.push('returned');
    await bus.idle();
    expect(order).toEqual(['one', 'two', 'pipeline', 'returned']);
  });

  it('of an unknown stream or phase reaches listeners alone, and is counted', () => {
    const { bus, emit, heard, listen, families } = lab();
    listen();
    emit('acme', { a: 1 });
    emit('lifecycle', { phase: 'paused' });
    emit('error', { reason: 'seq gap' });
    expect(heard.map(({ seq, stream }) => [seq, stream])).toEqual([
      [1, 'acme'],
      [2, 'lifecycle'],
      [3, 'error'],
    ]);
    expect(families()).toEqual([]);
    expect(bus.stats()).toMatchObject({ emitted: 3, unmapped: 3, dispatched: 0 });
  });

  it('that does not fit its family reaches listeners, is counted, and is told once', () => {
    const { bus, emit, heard, listen, logger } = lab();
    listen();
    emit('tool', { phase: 'start', name: 7 });
    emit('tool', { phase: 'start', name: 8 });
    expect(heard).toHaveLength(2);
    expect(bus.stats().misfits).toBe(2);
    expect(logger.messages('warn')).toHaveLength(1);
    expect(logger.messages('warn')[0]).toContain('tool start was not dispatched');
  });

  it('keeps a canonical handler of a tool start from changing anything, and tells so', async () => {
    const { bus, emit, kernel, outcomes } = lab();
    kernel.contribute({
      family: 'agent.tool.calling',
      class: 'mutator',
      extensionId: 'acme',
      id: 'change',
      handler: () => ({ params: { command: 'rm' } }),
    });
    emit('tool', { phase: 'start', ...samples['tool start'] });
    await bus.idle();
    expect(outcomes[0]?.payload).toMatchObject({ params: { command: 'ls' } });
    expect(outcomes[0]?.failures.map(({ kind }) => kind)).toEqual(['observe-only']);
  });

  it('of a tool result has the parameters of its start', async () => {
    const { bus, emit, outcomes } = lab();
    emit('tool', { phase: 'start', ...samples['tool start'] });
    emit('tool', { phase: 'result', ...samples['tool result'] });
    emit('tool', { phase: 'result', ...samples['tool result'] }); // told twice: they are gone
    await bus.idle();
    const called = outcomes.filter(({ event }) => event.family === 'agent.tool.called');
    expect(called.map(({ payload }) => payload)).toMatchObject([
      { params: { command: 'ls' } },
      { params: {} },
    ]);
  });
});

describe('a listener', () => {
  it('that throws or rejects stops nobody, and is counted', async () => {
    const { bus, emit, heard, listen } = lab();
    bus.onAgentEvent(() => {
      throw new Error('broken');
    });
    bus.onAgentEvent((async () => Promise.reject(new Error('late'))) as () => void);
    listen();
    emit('acme', {});
    await new Promise<void>((resolve) => setImmediate(resolve)); // every microtask there is
    expect(heard).toHaveLength(1);
    expect(bus.stats().failures).toBe(2);
  });

  it('that throws stops nobody, also if the logger throws (event-pipeline 12.2)', async () => {
    const broken = (): never => {
      throw new Error('no disk');
    };
    const logger = { debug: broken, info: broken, warn: broken, error: broken };
    const { emit, listen, heard, bus, families } = lab({ logger });
    bus.onAgentEvent(() => {
      throw new Error('boom');
    });
    bus.onAgentEvent(() => Promise.reject(new Error('boom later')) as never);
    listen();
    emit('lifecycle', { phase: 'start' });
    emit('tool', { phase: 'start', name: 7 }); // it does not fit its family
    await bus.idle();
    expect(heard.length).toBe(2);
    expect(families()).toEqual(['agent.starting']);
    expect(bus.stats()).toMatchObject({ failures: 4, misfits: 1 });
  });

  it('is added once, and its function says whether it was there', () => {
    const { bus, emit } = lab();
    const listener = vi.fn();
    const first = bus.onAgentEvent(listener);
    const second = bus.onAgentEvent(listener);
    emit('acme', {});
    expect(listener).toHaveBeenCalledTimes(1);
    expect(first()).toBe(true);
    expect(second()).toBe(false);
    emit('acme', {});
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('that is added while an event is told hears it too', () => {
    const { bus, emit, heard, listen } = lab();
    bus.onAgentEvent(() => void listen());
    emit('acme', {});
    expect(heard).toHaveLength(1);
  });
});

describe('what is known of a run', () => {
  it('numbers its events over all streams, also after its context is cleared', () => {
    const { bus, emit, heard, listen } = lab();
    listen();
    emit('assistant', { text: 'a', delta: 'a' });
    emit('acme', {}, 'r-2');
    bus.clearAgentRunContext('r-1');
    emit('acme', {});
    expect(heard.map(({ runId, seq }) => [runId, seq])).toEqual([
      ['r-1', 1],
      ['r-2', 1],
      ['r-1', 2],
    ]);
  });

  it('gives events a session key, which an own one beats and an invisible run has not', async () => {
    const { bus, heard, listen, outcomes } = lab();
    listen();
    bus.registerAgentRunContext('r-1', { sessionKey: 'k' });
    const assistant = { runId: 'r-1', stream: 'assistant', data: { text: 'a' } };
    bus.emitAgentEvent(assistant);
    bus.emitAgentEvent({ ...assistant, sessionKey: 'own' });
    bus.emitAgentEvent({ ...assistant, sessionKey: '  ' });
    bus.registerAgentRunContext('r-1', { isControlUiVisible: false });
    bus.emitAgentEvent({ ...assistant, sessionKey: 'own' });
    expect(heard.map(({ sessionKey }) => sessionKey)).toEqual(['k', 'own', 'k', undefined]);
    expect(bus.getAgentRunContext('r-1')).toEqual({ sessionKey: 'k', isControlUiVisible: false });
    // what the control page must not see, handlers of the pipeline may know
    expect(outcomes.at(-1)?.payload).toMatchObject({ sessionKey: 'k' });
  });

  it('is forgotten of the run that is longest unheard of, once there are too many', () => {
    const { bus, emit, heard, listen } = lab({ maxRuns: 2 });
    listen();
    for (const runId of ['r-1', 'r-2', 'r-1', 'r-3', 'r-1', 'r-2']) emit('acme', {}, runId);
    expect(heard.map(({ runId, seq }) => `${runId} ${seq}`)).toEqual([
      'r-1 1',
      'r-2 1',
      'r-1 2',
      'r-3 1',
      'r-1 3',
      'r-2 1', // forgotten when r-3 came
    ]);
    for (const runId of ['a', 'b', 'c']) bus.registerAgentRunContext(runId, { sessionKey: runId });
    expect(bus.getAgentRunContext('a')).toBeUndefined();
    expect(bus.getAgentRunContext('c')).toEqual({ sessionKey: 'c' });
  });
});

describe('a run that a turn drives', () => {
  it('is dispatched by the turn alone: what is emitted for it reaches listeners only', async () => {
    const { bus, emit, heard, listen, kernel, families } = lab();
    listen();
    await kernel.dispatch('agent.starting', samplePayload('agent.starting')); // r-1
    emit('tool', { phase: 'start', ...samples['tool start'] });
    emit('assistant', { text: 'Hi', delta: 'Hi' });
    emit('lifecycle', { phase: 'end' });
    emit('lifecycle', { phase: 'start' }, 'r-2'); // another run
    await bus.idle();
    expect(families()).toEqual(['agent.starting', 'agent.starting']);
    expect(heard.map(({ runId, seq, stream }) => `${runId} ${seq} ${stream}`)).toEqual([
      'r-1 1 lifecycle',
      'r-1 2 tool',
      'r-1 3 assistant',
      'r-1 4 lifecycle',
      'r-2 1 lifecycle',
    ]);
    expect(bus.stats()).toMatchObject({ told: 1, left: 3, dispatched: 1 });
  });

  it('tells listeners of its end as the legacy system does: end, error, or end with aborted', async () => {
    const { heard, listen, kernel } = lab();
    listen();
    const ended = (how: object) =>
      kernel.dispatch('agent.completed', { runId: 'r-1', endedAtMs: 9, success: false, ...how });
    await ended({ success: true });
    await ended({ aborted: true });
    await ended({ error: 'gone' });
    await kernel.dispatch('agent.completed', { success: true }); // of no run
    expect(heard.map(({ data }) => data)).toEqual([
      { phase: 'end', endedAt: 9 },
      { phase: 'end', endedAt: 9, aborted: true },
      { phase: 'error', endedAt: 9, error: 'gone' },
    ]);
  });

  it('gives listeners parameters that they may write to', async () => {
    const { bus, kernel } = lab();
    bus.onAgentEvent(({ data }) => {
      (data.args as Record<string, unknown>).country = 'Chile';
    });
    const outcome: Outcome<'agent.tool.calling'> = await kernel.dispatch(
      'agent.tool.calling',
      samplePayload('agent.tool.calling'),
    );
    expect(outcome.payload.params).toEqual({ country: 'Peru' });
    expect(bus.stats().failures).toBe(0);
  });
});

describe('a bridge that is disposed', () => {
  it('leaves nothing on the kernel, and its listeners hear no more', async () => {
    const { bus, heard, listen, kernel } = lab();
    listen();
    expect(kernel.stats().contributions).toBe(8);
    bus[Symbol.dispose]();
    expect(kernel.stats().contributions).toBe(0);
    await kernel.dispatch('agent.starting', samplePayload('agent.starting'));
    expect(heard).toEqual([]);
  });
});

describe('the bus of a kernel', () => {
  it('is one, as a legacy process has one: whoever listens and whoever emits meet', () => {
    const { bus, emit, kernel } = lab();
    const plugin = bridgeAgentEvents(kernel);
    const [own, theirs] = [vi.fn(), vi.fn()];
    bus.onAgentEvent(own);
    plugin.onAgentEvent(theirs);
    emit('acme', {});
    plugin[Symbol.dispose](); // takes its own listeners away, and nobody else's
    plugin[Symbol.dispose]();
    emit('acme', {});
    expect(own.mock.calls.map(([{ seq }]) => seq)).toEqual([1, 2]);
    expect(theirs).toHaveBeenCalledTimes(1);
    expect(kernel.stats().contributions).toBe(8);
  });
});
