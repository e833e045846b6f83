import fc from 'fast-check';
import { bridgeAgentEvents } from '../../src/openclaw/agent-events/bridge-agent-events.js';
import { agentEventRows } from '../../src/openclaw/agent-events/rows.js';
import { createTestKernel } from '../../src/testing/index.js';

type Fields = Record<string, unknown>;

/** What every agent event bus can do: the real one, the bridge, the model. */
export interface AgentBus {
  emit(event: Fields): unknown;
  on(listener: (event: Fields) => unknown): () => boolean;
  register(runId: string, context: Fields): unknown;
  context(runId: string): unknown;
  clear(runId: string): unknown;
}

/** The bus on a kernel of its own. */
export function bridgedAgentBus(): AgentBus {
  const { kernel, clock } = createTestKernel();
  const bus = bridgeAgentEvents(kernel, { clock });
  return {
    emit: (event) => bus.emitAgentEvent(event as never),
    on: (listener) => bus.onAgentEvent(listener as never),
    register: (runId, context) => bus.registerAgentRunContext(runId, context as never),
    context: (runId) => bus.getAgentRunContext(runId),
    clear: (runId) => bus.clearAgentRunContext(runId),
  };
}

const runs = fc.constantFrom('r-1', 'r-2', '');
const streams = fc.constantFrom(...new Set(agentEventRows.map(({ stream }) => stream)), 'acme', '');
const phases = fc.constantFrom(...new Set(agentEventRows.map(({ phase }) => phase)), 'odd');

const data = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        phase: phases,
        name: fc.constantFrom('exec', 7),
        toolCallId: fc.constantFrom('t-1', 't-2'),
        args: fc.constantFrom({ a: 1 }, { live: () => 1 }, 'text', null),
        result: fc.constantFrom('ok', { at: new Date(0) }),
        isError: fc.boolean(),
        text: fc.string({ maxLength: 4 }),
        delta: fc.string({ maxLength: 4 }),
        startedAt: fc.constantFrom(1, -1),
        endedAt: fc.constant(2),
        error: fc.constantFrom('gone', undefined),
        aborted: fc.boolean(),
        willRetry: fc.boolean(),
        activeProvider: fc.constant('p'),
        activeModel: fc.constant('m'),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(undefined, null, 'text') },
);

const event = fc.record(
  {
    runId: runs,
    stream: streams,
    data,
    sessionKey: fc.constantFrom('agent:main:main', '', '  ', 7),
    extra: fc.constant(1),
  },
  { requiredKeys: ['runId', 'stream', 'data'] },
);

const act = fc.constantFrom(
  'nothing',
  'returns',
  'resolves',
  'throws',
  'throws nothing',
  'writes the event',
  'takes itself away',
  'takes another away',
  'adds another',
  'comes back',
  'emits another',
  'clears the run',
);

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('on' as const), name: fc.nat(4), act }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('emit' as const), event }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('off' as const), name: fc.nat(4) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      runId: runs,
      context: fc.record(
        {
          sessionKey: fc.constantFrom('agent:main:main', 'agent:other', '', undefined),
          verboseLevel: fc.constantFrom('on', 'full', undefined),
          isHeartbeat: fc.constantFrom(true, false, undefined),
          isControlUiVisible: fc.constantFrom(true, false, undefined),
          extra: fc.constant(1),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), runId: runs }) },
);

/** Sequences of listening, emitting and registering runs. */
export const agentEventSequences = fc.array(step, { minLength: 5, maxLength: 24, size: 'max' });
type Sequence = typeof agentEventSequences extends fc.Arbitrary<infer One> ? One : never;

/** Runs a sequence, and writes down all that can be seen from outside. */
export function agentTranscript(bus: AgentBus, steps: Sequence, salt: string): unknown[] {
  const lines: unknown[] = [];
  const listeners = new Map<number, (event: Fields) => unknown>();
  const offs = new Map<number, () => boolean>();
  const salted = (runId: string) => (runId === '' ? '' : `${runId}${salt}`);
  let depth = 0;
  const listenerOf = (name: number, does: string) => {
    const existing = listeners.get(name);
    if (existing !== undefined) return existing;
    const listener = (given: Fields): unknown => {
      lines.push([name, seen(given, salt)]);
      return perform(name, does, given);
    };
    listeners.set(name, listener);
    return listener;
  };
  const add = (name: number, does: string) => {
    offs.set(name, bus.on(listenerOf(name, does)));
  };
  const perform = (name: number, does: string, given: Fields): unknown => {
    switch (does) {
      case 'returns':
        return false;
      case 'resolves':
        return Promise.resolve(1);
      case 'throws':
        throw new Error('broken');
      case 'throws nothing':
        return throwing(undefined);
      case 'writes the event':
        given.note = `${String(given.note ?? '')}${name};`;
        return undefined;
      case 'takes itself away':
        return void lines.push([name, 'off', offs.get(name)?.()]);
      case 'takes another away':
        return void lines.push([name, 'off', offs.get((name + 1) % 5)?.()]);
      case 'adds another':
        return add(name + 5, 'nothing');
      case 'comes back':
        if (depth > 0) return undefined;
        depth++;
        offs.get(name)?.();
        add(name, does);
        return undefined;
      case 'emits another':
        if (depth > 2) return undefined;
        depth++;
        bus.emit({ runId: salted('r-2'), stream: 'tool', data: { phase: 'start', by: name } });
        depth--;
        return undefined;
      case 'clears the run':
        return bus.clear(String(given.runId));
      default:
        return undefined;
    }
  };
  for (const one of steps) {
    depth = 0;
    if (one.do === 'on') add(one.name, one.act);
    if (one.do === 'off') lines.push(['off', offs.get(one.name)?.()]);
    if (one.do === 'register')
      lines.push(['gave', bus.register(salted(one.runId), { ...one.context })]);
    if (one.do === 'clear') lines.push(['gave', bus.clear(salted(one.runId))]);
    if (one.do === 'emit')
      lines.push(['gave', bus.emit({ ...one.event, runId: salted(one.event.runId) })]);
    const contexts = ['r-1', 'r-2', ''].map((runId) => bus.context(salted(runId)));
    lines.push(contexts.map((context) => (context === undefined ? 'none' : { ...context })));
  }
  for (const off of offs.values()) off();
  return lines;
}

/** Throws what is no error: listeners may. */
function throwing(value: unknown): never {
  throw value;
}

/** The empty run id is shared by all sequences, and so is its count. */
function seen({ ts, seq, ...fields }: Fields, salt: string): unknown {
  const runId = String(fields.runId).replace(salt, '');
  return {
    ...fields,
    runId,
    ts: typeof ts,
    ...(runId !== '' && { seq }),
    keys: Object.keys(fields),
  };
}

/** How many times a listener was called in a transcript. */
export function agentCalls(transcript: readonly unknown[]): number {
  return transcript.filter((line) => typeof (line as unknown[])[0] === 'number').length;
}
