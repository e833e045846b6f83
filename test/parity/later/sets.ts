import fc from 'fast-check';
import type { LegacyHookName } from '../../../src/openclaw/index.js';
import { events } from '../hooks/events.js';
import { handlersOf, setOf } from '../hooks/generate.js';
import type { Fields, HandlerSpec, HookSet } from '../hooks/hook-set.js';
import { field, known as known3 } from '../hooks/results.js';

export type Hook9 = LegacyHookName<'2026.9'>;

type Arbitrary<T = unknown> = fc.Arbitrary<T>;
export type Shape = Readonly<Record<string, Arbitrary>>;

const text: Arbitrary = fc.constantFrom('one', 'two', '', 'three');
const approval = fc.record(
  { title: fc.constantFrom('t', 'u'), description: fc.constant('d') },
  { noNullPrototype: true },
);

/** The fields that handlers of a hook may return, where they are not those of 2026.3. */
const known: Partial<Record<Hook9, Shape>> = {
  before_prompt_build: {
    ...known3.before_prompt_build,
    appendContext: text,
    toolsAllow: fc.constantFrom(['read'], ['read', 'write'], [], ['write', 'read']),
  },
  message_sending: {
    ...known3.message_sending,
    cancelReason: fc.constant('why'),
    metadata: fc.constantFrom({ k: 1 }, { l: 2 }),
  },
  before_agent_reply: {
    handled: fc.constantFrom<unknown>(true, false, 1, 0),
    reply: fc.constantFrom<unknown>({ text: 'one' }, { text: '' }, { mediaUrl: 'x' }, {}),
    reason: fc.constant('why'),
  },
  before_agent_run: {
    outcome: fc.constantFrom<unknown>('pass', 'block', 'block', 'ask'),
    reason: fc.constantFrom<unknown>('why', 'because', ' '),
    message: fc.constantFrom<unknown>('Not today.', ''),
  },
  before_tool_call: { ...known3.before_tool_call, requireApproval: approval },
};

/** The events and contexts of the hooks that 2026.3 does not have. */
const later: Partial<
  Record<string, { readonly event: Arbitrary<Fields>; readonly ctx: Arbitrary<Fields> }>
> = {
  channel_pairing_requested: {
    event: record(
      { channel: text, senderId: text, code: text },
      { accountId: text, metadata: fc.constantFrom({}, { name: 'Ada', deep: { k: [1] } }) },
    ),
    ctx: record({ channelId: text }, { accountId: text, senderId: text }),
  },
  cron_reconciled: {
    event: record({ reason: fc.constantFrom('startup', 'reload'), enabled: fc.boolean() }, {}),
    ctx: record({}, { port: fc.nat(9) }),
  },
  cron_changed: {
    event: record(
      { action: fc.constantFrom('added', 'removed', 'scheduled', 'finished'), jobId: text },
      {
        ...{ runAtMs: fc.nat(9), nextRunAtMs: fc.nat(9), durationMs: fc.nat(9), runId: text },
        ...{ job: fc.constant({ id: 'j' }), status: fc.constantFrom('ok', 'error', 'skipped') },
      },
    ),
    ctx: record({}, { port: fc.nat(9) }),
  },
};

/** Plain data: some fields always, others now and then. */
function record(required: Shape, optional: Shape): Arbitrary<Fields> {
  const all = { ...required, ...optional };
  return fc.record(all, { requiredKeys: Object.keys(required), ...plain() });
}

function plain() {
  return { noNullPrototype: true } as const;
}

const trigger = fc.constantFrom('user', 'cron', 'heartbeat');

/** What a handler of a hook is registered with: a budget if it never ends, and now and then a matcher. */
function options(hook: Hook9, given: HandlerSpec, matched: number, isTimed: boolean): HandlerSpec {
  const spec = isTimed && given.timing === 'gated' ? { ...given, timing: 'async' as const } : given;
  const isTool = hook === 'before_tool_call' || hook === 'after_tool_call';
  const matcher = isTool && matched < 2 ? [['id-1'], [' ID-2 ', 'x']][matched] : undefined;
  const isCut = hook === 'before_model_resolve' || hook === 'subagent_delivery_target';
  const timeoutMs = spec.timing === 'never' && !isCut ? 3 : undefined;
  const some = { ...(matcher && { matcher }), ...(timeoutMs && { timeoutMs }) };
  return Object.keys(some).length === 0 ? spec : { ...spec, options: some };
}

/** Sets of handlers for one hook of profile 2026.9. */
export function setsOf9(hook: Hook9): fc.Arbitrary<HookSet<Hook9>> {
  const shared: Partial<Record<string, { event: Arbitrary<Fields>; ctx: Arbitrary<Fields> }>> = {
    ...events,
    ...later,
  };
  const event =
    shared[hook]?.event ??
    fc.constant<Fields>({ cleanedBody: 'c', prompt: 'p', messages: [{ role: 'user' }] });
  const ctx: Arbitrary<Fields> = fc
    .tuple(
      shared[hook]?.ctx ??
        (fc.record({ channelId: fc.constant('slack'), trigger }, plain()) as Arbitrary<Fields>),
      fc.constantFrom(undefined, 'r-1'),
    )
    .map(([some, runId]) => ({ ...some, ...(runId && { runId }) }));
  const shape = known[hook] ?? known3[hook as LegacyHookName];
  const results = shape === undefined ? undefined : resultsOf(shape);
  const passes = fc.constant({ outcome: 'pass' }); // alone: with a further field it is no decision
  const isGate = hook === 'before_agent_run' && results !== undefined;
  const handlers = handlersOf(hook, isGate ? fc.oneof(passes, results) : results);
  return fc
    .tuple(
      setOf(hook, { event, ctx }, handlers),
      fc.array(fc.nat(9), { minLength: 13, maxLength: 13 }),
    )
    .map(([set, matched]) => ({
      ...set,
      handlers: set.handlers.map((spec, at) =>
        options(
          hook,
          spec,
          matched[at] ?? 9,
          set.handlers.some(({ timing }) => timing === 'never'),
        ),
      ),
    }));
}

/** The answers of handlers: some of the fields, of good types and of wrong ones; nothing; no object. */
export function resultsOf(shape: Shape): Arbitrary {
  const fields = fc.record(
    Object.fromEntries(Object.entries(shape).map(([key, good]) => [key, field(good)])),
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc.oneof(
    { weight: 14, arbitrary: fields },
    { weight: 2, arbitrary: fields.map((some) => ({ ...some, extra: 'kept' })) },
    { weight: 3, arbitrary: fc.constantFrom<unknown>(undefined, null, {}) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(0, 7, '', 'text', true, false, ['x'], []) },
  );
}
