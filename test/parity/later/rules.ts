import type { LegacyDivergenceName } from '../../../src/legacy/index.js';
import { rowsOf } from '../../../src/legacy/profiles/index.js';
import { type Fields, type HandlerSpec, type HookSet, untrustedPlugin } from '../hooks/hook-set.js';

type Set9 = HookSet<string>;
type Rule = (set: Set9) => boolean;

const answersOf = ({ handlers }: Set9): unknown[] =>
  handlers.flatMap(({ ends }) => ('returns' in ends ? [ends.returns] : []));
const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const recordsOf = (set: Set9): Fields[] => answersOf(set).filter(isRecord);
const isText = (value: unknown) => typeof value === 'string' || (isRecord(value) && '$' in value);

const isMessage = (value: unknown) =>
  isRecord(value) && ('$' in value || typeof value['role'] === 'string');
const placeFields = ['channel', 'accountId', 'to', 'threadId'];
/** An origin that names a place, in fields that there are. */
const isPlace = (value: unknown) =>
  isRecord(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((key) => placeFields.includes(key));

/** What the stages take in each field: a value of another type is refused there, with its whole part. */
const fits: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  before_model_resolve: { modelOverride: isText, providerOverride: isText },
  before_prompt_build: {
    ...{ systemPrompt: isText, prependContext: isText, appendContext: isText },
    ...{ prependSystemContext: isText, appendSystemContext: isText },
    toolsAllow: Array.isArray,
  },
  before_agent_reply: { reply: (value) => isRecord(value) && isText(value['text'] ?? '') },
  message_sending: { content: isText, metadata: isRecord },
  before_tool_call: { params: isRecord, requireApproval: isRecord },
  tool_result_persist: { message: (value) => !value || isMessage(value) },
  before_message_write: { message: (value) => !value || isMessage(value) },
};

const changes = (set: Set9): boolean => rowsOf('2026.9')[set.hook]?.kind !== 'void';

const some =
  (test: (spec: HandlerSpec) => boolean): Rule =>
  ({ handlers }) =>
    handlers.some(test);

/** Tells, of a set, whether a divergence of profile 2026.9 may make it differ. */
export const rules: Readonly<Partial<Record<LegacyDivergenceName, Rule>>> = {
  'ties-across-plugins': ({ handlers }) =>
    handlers.some((one, at) =>
      handlers
        .slice(at + 1)
        .some(
          (other) => (one.priority ?? 0) === (other.priority ?? 0) && other.pluginId < one.pluginId,
        ),
    ),
  'priority-must-be-finite': some(({ priority = 0 }) => !Number.isFinite(priority)),
  'refused-output': (set) =>
    changes(set) &&
    (answersOf(set).some((one) => one !== undefined && one !== null && !isRecord(one)) ||
      recordsOf(set).some((one) =>
        Object.entries(fits[set.hook] ?? {}).some(
          ([field, test]) => one[field] !== undefined && one[field] !== null && !test(one[field]),
        ),
      )),
  'system-prompt-needs-trust': (set) =>
    set.hook === 'before_prompt_build' &&
    set.handlers.some(({ pluginId }) => pluginId === untrustedPlugin),
  'hanging-handler-is-cut': some(
    ({ timing, options }) => timing === 'never' && !options?.timeoutMs,
  ),
  'answers-at-once-share-a-tick': (set) =>
    ['modifying', 'claim'].includes(rowsOf('2026.9')[set.hook]?.kind ?? '') &&
    set.handlers.length > 1 &&
    some(({ timing }) => timing === 'now')(set),
  'unreadable-error-is-told': some(({ ends }) => 'throws' in ends && ends.throws === 'unreadable'),
  'odd-error-is-a-text': some(({ ends }) => 'throws' in ends && ends.throws === 'record'),
  'null-field-is-left-out': (set) =>
    recordsOf(set).some((one) => Object.values(one).includes(null)),
  'empty-text-adds-nothing': (set) =>
    set.hook === 'before_prompt_build' &&
    recordsOf(set).some((one) => Object.values(one).includes('')),
  'extra-fields-of-several-answers': (set) =>
    set.hook === 'subagent_delivery_target' && set.handlers.length > 1,
  'unfit-origin-is-no-candidate': (set) =>
    set.hook === 'subagent_delivery_target' &&
    recordsOf(set).some((one) => one['origin'] !== undefined && !isPlace(one['origin'])),
};
