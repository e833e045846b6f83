import type { LegacyHookName } from '../../../src/openclaw/index.js';
import { parityDifferences } from '../../../src/openclaw/parity/index.js';
import { isRecord } from './accept.js';
import { merges } from './merges.js';
import type { Rows } from './rows.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a handler answered, in run order, as far as it counts. */
export interface Counted {
  readonly value: unknown;
  /** A part of it was refused: the rest has no fields that the hook does not know. */
  readonly isPart: boolean;
}

const texts = ['prependContext', 'prependSystemContext', 'appendSystemContext'] as const;

const known: Partial<Record<LegacyHookName, readonly string[]>> = {
  before_model_resolve: ['modelOverride', 'providerOverride'],
  before_prompt_build: ['systemPrompt', ...texts],
  before_agent_start: ['modelOverride', 'providerOverride', 'systemPrompt', ...texts],
  message_sending: ['content', 'cancel'],
  before_tool_call: ['params', 'block', 'blockReason'],
  subagent_spawning: ['status', 'threadBindingReady', 'error'],
  subagent_delivery_target: ['origin'],
};

/**
 * What a modifying hook gives back.
 *
 * @param written the parameters of a tool call that handlers wrote, by return or in place, with their last values.
 */
export function resultOf(
  hook: LegacyHookName,
  answers: readonly Counted[],
  written: Fields,
  rows: Rows,
): unknown {
  const values = answers.map(({ value }) => value);
  if (hook === 'subagent_spawning') return spawning(values, rows);
  if (hook === 'subagent_delivery_target') return delivery(values, rows);
  const merged = folded(hook, values);
  if (!isRecord(merged)) return merged;
  let result: Fields = merged;
  const whole = answers.filter(({ isPart }) => !isPart);
  const [only, ...others] = whole;
  if (whole.length < answers.length && only !== undefined && others.length === 0)
    result = { ...unknownOf(hook, only.value), ...result };
  if (hook === 'before_prompt_build' || hook === 'before_agent_start')
    result = withTexts(result, values, rows);
  if (hook === 'before_tool_call') result = withParams(result, values, written, rows);
  const nulls = (known[hook] ?? []).filter((field) => result[field] === null);
  if (!rows.take('null-field-is-left-out', nulls.length > 0)) return result;
  return without(result, nulls);
}

/** A single answer as it is; of several, what the hook's merge makes of them. */
function folded(hook: LegacyHookName, values: readonly unknown[]): unknown {
  const merge = merges[hook] ?? ((_, later) => later);
  const [first, ...more] = values as readonly Fields[]; // a merge reads fields off anything
  return more.reduce<Fields | undefined>((a, b) => merge(a as Fields, b), first);
}

function unknownOf(hook: LegacyHookName, value: unknown): Fields {
  return isRecord(value) ? without(value, known[hook] ?? []) : {};
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !names.includes(key)));
}

function withTexts(result: Fields, values: readonly unknown[], rows: Rows): Fields {
  const joined: Record<string, unknown> = {};
  for (const field of texts) {
    const said = values.map((value) => (value as Fields)[field]).filter((text) => text != null);
    const text = said.filter((one) => one !== '').join('\n\n');
    if (said.length > 1 && result[field] !== text) joined[field] = text;
  }
  const theyPart = Object.keys(joined).length > 0;
  return rows.take('empty-text-adds-nothing', theyPart) ? { ...result, ...joined } : result;
}

function withParams(
  result: Fields,
  values: readonly unknown[],
  written: Fields,
  rows: Rows,
): Fields {
  const records = values.map((value) => (value as Fields)['params']).filter(isRecord);
  const keys = new Set(records.flatMap((record) => Object.keys(record)));
  const params = Object.fromEntries([...keys].map((key) => [key, written[key]]));
  const theyPart = records.length > 0 && differ(result['params'], params);
  return rows.take('tool-params-merge-by-key', theyPart) ? { ...result, params } : result;
}

/** An error decides; else a child that is ready if one handler made it so. */
function spawning(values: readonly unknown[], rows: Rows): unknown {
  const legacy = folded('subagent_spawning', values);
  const answers = values as readonly Fields[];
  const [first, ...more] = answers;
  if (first === undefined) return undefined;
  const extras = more.length === 0 ? unknownOf('subagent_spawning', first) : {};
  const isReady = answers.some((one) => one['status'] === 'ok' && one['threadBindingReady']);
  let ours: unknown = { ...extras, status: 'ok', threadBindingReady: isReady };
  if (answers.some((one) => one['status'] === 'error')) {
    const said = answers.map((one) => one['error']).findLast((error) => error != null);
    ours = { ...extras, status: 'error', error: said ?? 'binding-failed' };
  } else if (more.length === 0 && !isReady) ours = first;
  return rows.take('spawn-answers-in-one-form', differ(legacy, ours)) ? ours : legacy;
}

function delivery(values: readonly unknown[], rows: Rows): unknown {
  const answers = values.map((value) => {
    if (!isRecord(value) || !value['origin']) return value;
    const isUnfit = !isPlace(value['origin']);
    return rows.take('unfit-origin-is-no-candidate', isUnfit) ? without(value, ['origin']) : value;
  });
  const legacy = folded('subagent_delivery_target', answers);
  if (!isRecord(legacy)) return legacy;
  const result = { ...legacy };
  if (rows.take('null-field-is-left-out', result['origin'] === null)) delete result['origin'];
  const extras = unknownOf('subagent_delivery_target', legacy);
  const theyPart = answers.length > 1 && Object.keys(extras).length > 0;
  if (!rows.take('extra-fields-of-several-answers', theyPart)) return result;
  return without(result, Object.keys(extras));
}

/** At least one of the fields of a place, and no other. */
function isPlace(origin: unknown): boolean {
  if (!isRecord(origin)) return false;
  const { channel, accountId, to, threadId, ...others } = origin;
  const isTextOrNone = (value: unknown) => value === undefined || typeof value === 'string';
  return (
    Object.keys(origin).length > 0 &&
    Object.keys(others).length === 0 &&
    [channel, accountId, to].every(isTextOrNone) &&
    (isTextOrNone(threadId) || typeof threadId === 'number')
  );
}

function differ(legacy: unknown, pipeline: unknown): boolean {
  return parityDifferences(legacy, pipeline).length > 0;
}
