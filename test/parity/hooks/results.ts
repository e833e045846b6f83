import fc from 'fast-check';
import type { LegacyHookName } from '../../../src/openclaw/index.js';
import type { Write } from './hook-set.js';

type Arbitrary<T = unknown> = fc.Arbitrary<T>;
type Shape = Readonly<Record<string, Arbitrary>>;

const text: Arbitrary = fc.constantFrom('one', 'two', '', 'three');
const isSo: Arbitrary = fc.constantFrom(true, false, true, 1, 0, 'yes');
const params: Arbitrary = fc.dictionary(
  fc.constantFrom('path', 'mode', 'k', 'new'),
  fc.constantFrom<unknown>('w', 2, false, null, ['b'], { deep: { c: 2 } }),
  { maxKeys: 3, noNullPrototype: true },
);
const origin: Arbitrary = fc.oneof(
  fc.record(
    {
      channel: fc.constantFrom('discord', 'slack'),
      accountId: fc.constant('acc'),
      to: fc.constantFrom('channel:1', 'C2'),
      threadId: fc.constantFrom<unknown>('1', 2),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  fc.constant({ channel: 'discord', to: 'channel:1' }),
);
const message: Arbitrary = fc.oneof(
  fc.constant({ $: 'same', field: 'message' }),
  fc.record(
    { role: fc.constantFrom('user', 'toolResult'), content: text },
    { requiredKeys: ['role'], noNullPrototype: true },
  ),
);
const prompt: Shape = {
  systemPrompt: text,
  prependContext: text,
  prependSystemContext: text,
  appendSystemContext: text,
};
const model: Shape = { modelOverride: text, providerOverride: text };
const content = fc.oneof(text, fc.constant({ $: 'echo', field: 'content', suffix: '!' }));

/** The fields that a hook's handlers may return. A void hook reads none. */
export const known: Partial<Record<LegacyHookName, Shape>> = {
  before_model_resolve: model,
  before_prompt_build: prompt,
  before_agent_start: { ...model, ...prompt },
  message_sending: { content, cancel: isSo },
  before_tool_call: { params, block: isSo, blockReason: text },
  tool_result_persist: { message },
  before_message_write: { message, block: isSo },
  subagent_spawning: {
    status: fc.constantFrom('ok', 'ok', 'error'),
    threadBindingReady: fc.boolean(),
    error: text,
  },
  subagent_delivery_target: { origin },
};

/** What is of no field's type, or of none but a text's. */
const odd: Arbitrary = fc.constantFrom<unknown>(42, true, ['x'], { a: 1 }, 'loose text');

export function field(good: Arbitrary): Arbitrary {
  return fc.oneof(
    { weight: 10, arbitrary: good },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: odd },
  );
}

/** What a handler of a hook returns: nothing, an empty object, some fields, further fields, wrong types, no object. */
export function resultOf(hook: LegacyHookName): Arbitrary {
  const shape = known[hook] ?? { content: text };
  const fields = fc.record(
    Object.fromEntries(Object.entries(shape).map(([key, good]) => [key, field(good)])),
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc.oneof(
    { weight: 12, arbitrary: fields },
    { weight: 2, arbitrary: fields.map((some) => ({ ...some, extra: 'kept', more: { a: 1 } })) },
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(0, 7, '', 'text', true, false, ['x'], []) },
  );
}

const anywhere: Arbitrary<Write> = fc.constantFrom<Write>(
  { to: 'event', path: ['added'], value: 'in place' },
  { to: 'ctx', path: ['added'], value: 'in place' },
  { to: 'ctx', path: ['agentId'] },
);

/** What handlers of a hook do in place, beside what handlers of any hook may do. */
const places: Partial<Record<LegacyHookName, readonly Write[]>> = {
  message_sending: [
    { to: 'event', path: ['content'], value: 'changed in place' },
    { to: 'event', path: ['metadata', 'k'], value: 1 },
  ],
  message_received: [{ to: 'event', path: ['content'], value: 'changed in place' }],
  before_model_resolve: [{ to: 'event', path: ['prompt'], value: 'changed in place' }],
  before_prompt_build: [
    { to: 'event', path: ['messages', '0'], value: { role: 'user', content: 'in place' } },
  ],
  before_tool_call: [
    { to: 'event', path: ['params', 'path'], value: 'in place' },
    { to: 'event', path: ['params', 'set'], value: { deep: true } },
    { to: 'event', path: ['params', 'k'] },
    { to: 'event', path: ['params'], value: { whole: true } },
    { to: 'event', path: ['toolName'], value: 'other' },
  ],
  tool_result_persist: [
    { to: 'event', path: ['message', 'content'], value: 'in place' },
    { to: 'event', path: ['message'], value: { role: 'user', content: 'in its copy' } },
  ],
  before_message_write: [
    { to: 'event', path: ['message', 'content'], value: 'in place' },
    { to: 'event', path: ['message'], value: { role: 'user', content: 'in its copy' } },
  ],
};

/** What a handler of a hook does in place. */
export function writesOf(hook: LegacyHookName): Arbitrary<Write[]> {
  const some = places[hook] ?? [];
  const one = some.length === 0 ? anywhere : fc.oneof(anywhere, fc.constantFrom(...some));
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant<Write[]>([]) },
    { weight: 1, arbitrary: fc.array(one, { minLength: 1, maxLength: 2 }) },
  );
}
