import fc from 'fast-check';
import type { FamilyName, Fields, Outcome } from '../../../src/kernel/internal.js';
import { rowsOf } from '../../../src/openclaw/profiles/index.js';
import { samplePayload } from '../../../src/testing/index.js';
import { handlersOf } from '../hooks/generate.js';
import type { HandlerSpec, HookSet } from '../hooks/hook-set.js';
import { resultsOf, type Shape } from './sets.js';

type Arbitrary<T = unknown> = fc.Arbitrary<T>;

const text: Arbitrary = fc.constantFrom('one', 'two', '', 'three');
const id: Arbitrary = fc.constantFrom('id-1', 'x');

/** A hook without a method of ours, as it is compared: by its stage in a host, and by its method there. */
interface StageHook {
  /** The payloads of its stage: their optional fields are there now and then. */
  readonly family: FamilyName;
  readonly payload: Arbitrary<Fields>;
  /** The fields that its handlers may return. */
  readonly results?: Shape;
  /** The sense of the real runner's result, for its caller. */
  readonly there?: (result: Fields, event: Fields) => unknown;
  /** The same of the outcome of the stage. */
  readonly here?: (outcome: Outcome) => unknown;
}

/** The fields of a sample, of which some are others. */
function like<F extends Parameters<typeof samplePayload>[0]>(
  family: F,
  some: Shape,
): Arbitrary<Fields> {
  const others = fc.record(some, { requiredKeys: [], noNullPrototype: true });
  return others.map((one) => ({ ...samplePayload(family), ...(one as Fields) }));
}

const run = { sessionKey: id, sessionId: id, agentId: id };
const prompt = {
  ...run,
  prompt: text,
  messages: fc.constantFrom([], [{ role: 'user', content: 'hi' }]),
};
const noPieces = { guidance: [], additions: [] };

const texts: Pick<StageHook, 'family' | 'results' | 'there' | 'here'> = {
  family: 'agent.prompt.building',
  results: { prependContext: text, appendContext: text },
  there: ({ prependContext, appendContext }) => [prependContext || '', appendContext || ''],
  here: ({ payload }) => {
    const { additions } = payload as { readonly additions: readonly Fields[] }; // of this stage
    const at = (place: string): string =>
      additions
        .filter(({ position, text: one }) => position === place && one !== '')
        .map((one) => one['text'])
        .join('\n\n');
    return [at('before'), at('after')];
  },
};

const cancelled = 'a reply_payload_sending handler cancelled it';
const file = { kind: 'image', url: 'https://files.test/a.png' };

/** Every hook of profile 2026.9 that shares the stage of another one. */
export const stageHooks: Readonly<Record<string, StageHook>> = {
  agent_turn_prepare: {
    ...texts,
    payload: like('agent.prompt.building', prompt).map((one) => ({ ...one, ...noPieces })),
  },
  heartbeat_prompt_contribution: {
    ...texts,
    payload: like('agent.prompt.building', prompt).map((one) => ({
      ...one,
      ...noPieces,
      trigger: 'heartbeat',
    })),
  },
  model_call_started: { family: 'agent.llm.input', payload: like('agent.llm.input', run) },
  model_call_ended: {
    family: 'agent.llm.output',
    payload: like('agent.llm.output', { ...run, error: fc.constant('overloaded') }),
  },
  before_dispatch: {
    family: 'routing.resolving',
    payload: like('routing.resolving', {
      explicitRoute: fc.constant({ agentId: 'main', sessionKey: 's' }),
    }),
    results: { handled: fc.constantFrom<unknown>(true, false, 1, 0), text },
    there: ({ handled, text: reply }) =>
      Boolean(handled) && [typeof reply === 'string' ? reply : ''],
    here: (outcome) => outcome.status === 'cancelled' && [outcome.cancel.reply ?? ''],
  },
  reply_payload_sending: {
    family: 'egress.preparing',
    payload: like('egress.preparing', {
      ...{ content: text, accountId: id, replyToId: id, sessionKey: id },
      kind: fc.constantFrom('reply', 'block', 'stream-final', 'tool-output'),
      attachments: fc.constantFrom([], [file]),
    }),
    results: {
      payload: fc.constantFrom<unknown>(
        ...[
          { text: 'one' },
          { text: 'two' },
          { text: '' },
          { text: 'three', channelData: { k: 1 } },
        ],
        ...[{ mediaUrl: 'x' }, { text: 'four', mediaUrls: ['y'] }, {}, { text: 4 }],
      ),
      cancel: fc.constantFrom<unknown>(true, false, false, 1, 'yes'),
      reason: fc.constantFrom('why', 'because'),
    },
    there: ({ cancel, reason, payload }, event) =>
      cancel === true
        ? [typeof reason === 'string' ? reason : cancelled]
        : ((payload ?? event['payload']) as Fields)['text'],
    here: (outcome) =>
      outcome.status === 'cancelled'
        ? [outcome.cancel.text]
        : (outcome.payload as { readonly content?: string }).content,
  },
  subagent_progress: {
    family: 'subagent.completed',
    payload: like('subagent.completed', {
      outcome: fc.constantFrom('ok', 'error', 'timeout', 'killed', 'reset'),
      runId: id,
    }),
  },
};

/** A set of handlers for such a hook, with the payload of its stage; the event and the context are those that its row makes of it. */
export interface StageSet {
  readonly set: HookSet<string>;
  readonly payload: Fields;
}

/** Sets of handlers for one of the hooks. */
export function stageSetsOf(hook: string): Arbitrary<StageSet> {
  const { family, payload: payloads, results } = stageHooks[hook] as StageHook; // of its own keys
  return fc
    .tuple(payloads, handlersOf(hook, results && resultsOf(results)))
    .map(([payload, handlers]) => {
      const envelope = { family, payload } as Parameters<ReturnType<typeof rowOf>['view']>[0]; // a row reads no more of it
      const { event, ctx } = rowOf(hook).view(envelope) as { event: Fields; ctx: Fields };
      const isTimed = handlers.some(({ timing }) => timing === 'never');
      const set = { ...{ hook, event, ctx }, catchErrors: true };
      return { payload, set: { ...set, handlers: handlers.map((spec) => timed(spec, isTimed)) } };
    });
}

function rowOf(hook: string) {
  const row = rowsOf('2026.9')[hook];
  if (row === undefined) throw new TypeError(`there is no hook ${hook}`);
  return row;
}

/** A handler that never ends has a budget, and then nobody waits at a gate. */
function timed(spec: HandlerSpec, isTimed: boolean): HandlerSpec {
  if (spec.timing === 'never') return { ...spec, options: { timeoutMs: 3 } };
  return isTimed && spec.timing === 'gated' ? { ...spec, timing: 'async' } : spec;
}
