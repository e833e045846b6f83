import type { LegacyHookName } from '../../../src/openclaw/index.js';

type Fields = Readonly<Record<string, unknown>>;
/** What two answers come to; the earlier one may itself be what others came to. */
type Merge = (earlier: Fields, later: Fields) => Fields;

const firstOf = (field: string, a: Fields, b: Fields) => ({ [field]: a[field] ?? b[field] });
const lastOf = (field: string, a: Fields, b: Fields) => ({ [field]: b[field] ?? a[field] });

/** Both texts with a blank line between where both say something, else the later one, else the earlier. */
const joinedOf = (field: string, a: Fields, b: Fields) => {
  const [one, other] = [a[field], b[field]];
  if (one && other) return { [field]: `${String(one)}\n\n${String(other)}` };
  return { [field]: other ?? one };
};

const model: Merge = (a, b) => ({
  ...firstOf('modelOverride', a, b),
  ...firstOf('providerOverride', a, b),
});

const prompt: Merge = (a, b) => ({
  ...lastOf('systemPrompt', a, b),
  ...joinedOf('prependContext', a, b),
  ...joinedOf('prependSystemContext', a, b),
  ...joinedOf('appendSystemContext', a, b),
});

const spawning: Merge = (a, b) => {
  if (a['status'] === 'error') return a;
  if (b['status'] === 'error') return b;
  return {
    status: 'ok',
    threadBindingReady: Boolean(a['threadBindingReady'] || b['threadBindingReady']),
  };
};

/** How the answers of a modifying hook's handlers become one (profile 2026.3). */
export const merges: Partial<Record<LegacyHookName, Merge>> = {
  before_model_resolve: model,
  before_prompt_build: prompt,
  before_agent_start: (a, b) => ({ ...prompt(a, b), ...model(a, b) }),
  message_sending: (a, b) => ({ ...lastOf('content', a, b), ...lastOf('cancel', a, b) }),
  before_tool_call: (a, b) => ({
    ...lastOf('params', a, b),
    ...lastOf('block', a, b),
    ...lastOf('blockReason', a, b),
  }),
  subagent_spawning: spawning,
  subagent_delivery_target: (a, b) => (a['origin'] ? a : b),
};
