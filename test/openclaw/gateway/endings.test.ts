import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOrdering } from '../../../src/claude/index.js';
import type { SessionEvent, StreamDelta } from '../../../src/sdk/stream/index.js';
import { until } from '../../support/gateway-server.js';
import {
  leftOf,
  nothingLeft,
  type ProviderLab,
  providerLab,
  triggerOf,
} from '../../support/provider-lab.js';

const text = fc.constantFrom('a', 'ab', 'abc', 'b', '', 'NO', 'NO_REPLY');
const seq = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }) },
);
const data = fc.oneof(
  fc.record({
    stream: fc.constantFrom('thinking', 'assistant'),
    data: fc.record({ text, delta: text }, { requiredKeys: [] }),
  }),
  fc.record({
    stream: fc.constant('tool'),
    data: fc.record({
      phase: fc.constantFrom('start', 'update', 'result'),
      toolCallId: fc.constantFrom('t-1', 't-2'),
      name: fc.constant('read'),
    }),
  }),
  fc.record({
    stream: fc.constantFrom('compaction', 'lifecycle', 'item'),
    data: fc.record({ phase: fc.constantFrom('start', 'fallback') }),
  }),
  fc.record({ stream: fc.constant('compaction'), data: fc.constant({ phase: 'end' }) }),
  fc.record({ stream: fc.constant('error'), data: fc.constant({ reason: 'seq gap' }) }),
);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('event' as const), event: data, seq }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('chat' as const), text }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 40, 90) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('noise' as const),
      payload: fc.constantFrom(null, 7, {}, { runId: '' }, { runId: 'other', stream: 'assistant' }),
    }),
  },
);
const endings = [
  'lifecycle end',
  'lifecycle error',
  'error',
  'chat final',
  'chat error',
  'chat aborted',
  'time-out',
  'idle',
  'abort',
  'return',
  'return while waiting',
  'lost',
  'refused',
  'no acknowledgement',
] as const;
const sequences = fc.record({
  steps: fc.array(step, { maxLength: 14 }),
  ending: fc.constantFrom(...endings),
  how: fc.constantFrom('deltas' as const, 'session' as const),
  ackLater: fc.boolean(),
});
type Sequence = typeof sequences extends fc.Arbitrary<infer One> ? One : never;

/** Plays one sequence, and says what came of it. */
async function play(lab: ProviderLab, { steps, ending, how, ackLater }: Sequence) {
  const { client, clock, server } = lab;
  const stop = new AbortController();
  const before = server.sent('chat.send').length;
  let acknowledge = (): void => undefined;
  server.answers['chat.send'] = ({ id, from, params }) => {
    const runId = params.idempotencyKey;
    if (ending === 'refused') return { error: { code: 'UNAVAILABLE', message: 'no' } };
    if (ending === 'no acknowledgement') return undefined;
    if (!ackLater) return { payload: { runId, status: 'started' } };
    acknowledge = () => from.send({ type: 'res', id, ok: true, payload: { runId } });
    return undefined;
  };
  const stream: AsyncGenerator<StreamDelta | SessionEvent> =
    how === 'deltas'
      ? lab.agent.triggerStream(triggerOf('hello', { signal: stop.signal }))
      : lab.agent.run({
          ...{ runId: 't', agentId: 'main', sessionId: 's', sessionKey: 'k', model: 'default' },
          ...{ prompt: 'hello', attachments: [], history: [] },
          session: { context: {}, memoryKeys: [], metadata: {} },
          gate: () => Promise.reject(new Error('asked')),
          tell: () => undefined,
          keepSession: () => undefined,
          offer: () => [],
          written: () => [],
          llmCalling: () => undefined,
          llmReturning: (message) => message,
          toolReturning: async (_call, result) => result,
          signal: stop.signal,
        });
  const told: (StreamDelta | SessionEvent)[] = [];
  const reads: Promise<unknown>[] = [];
  const read = (): void => {
    reads.push(
      stream.next().then((next) => {
        if (next.done !== true) told.push(next.value);
      }),
    );
  };
  read();
  if (how === 'session') read();
  await until(() => server.sent('chat.send').length > before);
  const runId = String(server.sent('chat.send').at(-1)?.params.idempotencyKey);
  if (!ackLater && ending !== 'no acknowledgement')
    await until(() => client.stats().pendingRequests === 0);
  let count = 0;
  for (const one of steps) {
    if (one.do === 'event')
      client.routeAgentEvent({ runId, ...one.event, seq: one.seq ?? (count += 1), ts: 1 });
    else if (one.do === 'chat') client.routeChatEvent({ runId, state: 'delta', message: one.text });
    else if (one.do === 'wait') await clock.advance(one.ms);
    else if (one.do === 'noise') client.routeAgentEvent(one.payload);
    else read();
  }
  acknowledge();
  await until(() => ending === 'no acknowledgement' || client.stats().pendingRequests === 0);
  const say = (stream_: string, fields: object): void =>
    void client.routeAgentEvent({ runId, seq: 1_000, stream: stream_, data: fields });
  const chat = (state: string): void => void client.routeChatEvent({ runId, state });
  if (ending === 'lifecycle end') say('lifecycle', { phase: 'end' });
  else if (ending === 'lifecycle error') say('lifecycle', { phase: 'error', error: 'e' });
  else if (ending === 'error') say('error', { error: 'e' });
  else if (ending.startsWith('chat')) chat(ending.slice(5));
  else if (ending === 'abort') stop.abort();
  else if (ending === 'return')
    await Promise.all([...reads, stream.return(undefined)]).catch(() => []);
  else if (ending === 'return while waiting') {
    read();
    await stream.return(undefined);
  } else if (ending === 'lost') {
    server.drop();
    await until(() => client.state === 'waiting');
    await clock.advance(30_000);
    await until(() => client.state === 'connected');
  } else await clock.advance(20_000);
  return { stream, told, reads };
}

describe('whatever comes and however it ends (stream §4.1; seed 003: cleanup)', () => {
  it('a stream ends as it should, and nothing of the run is left', async () => {
    await using lab = await providerLab({
      client: { maxRuns: 3, resumeWindowMs: 500 },
      agent: { agentTimeoutMs: 10_000, idleTimeoutMs: 8_000, circuit: { threshold: 1e9 } },
    });
    const timers = lab.clock.pending;
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        if (sequence.ending === 'return')
          sequence.steps = sequence.steps.filter((one) => one.do !== 'read');
        const { stream, told, reads } = await play(lab, sequence);
        await Promise.all(reads);
        for await (const one of stream) told.push(one);
        const isLeft = sequence.ending.startsWith('return');
        if (sequence.how === 'deltas') {
          const phases = (told as StreamDelta[]).map(({ phase }) => phase);
          const ends = phases.filter((phase) => phase === 'final' || phase === 'error');
          expect(ends.length).toBe(isLeft && ends.length === 0 ? 0 : 1);
          if (ends.length > 0) expect(phases.at(-1)).toBe(ends[0]);
        } else if (!isLeft) expect(checkOrdering(told as SessionEvent[])).toEqual([]);
        await lab.settled();
        await until(() => lab.client.stats().pendingRequests === 0);
        await lab.clock.advance(1_000);
        expect(leftOf(lab)).toEqual(nothingLeft);
        expect(lab.clock.pending).toBe(timers);
      }),
      { numRuns: 300 },
    );
  });
});
