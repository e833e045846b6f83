import type { LegacyHookName } from '../../../src/openclaw/index.js';
import { type HandlerSpec, untrustedPlugin } from '../hooks/hook-set.js';
import type { Rows } from './rows.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fields of an answer that stand or fall together, since one stage takes them from one contribution. */
interface Part {
  readonly fields: readonly string[];
  readonly fits: (value: unknown) => boolean;
  /** The fields go to the second dispatch of the hook. */
  readonly late?: true;
  readonly needsTrust?: true;
}

const isText = (value: unknown) => typeof value === 'string';
/** What the merges do not pass over. */
const isGiven = (value: unknown) => value !== undefined && value !== null;

/** An object that is no list. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isMessage = (value: unknown) => !value || (isRecord(value) && isText(value['role']));
const isStatus = (value: unknown) => value === 'ok' || value === 'error';

const model = { fields: ['modelOverride', 'providerOverride'], fits: isText } as const;
const texts = {
  fields: ['prependContext', 'prependSystemContext', 'appendSystemContext'],
  fits: isText,
} as const;
const system = { fields: ['systemPrompt'], fits: isText, needsTrust: true } as const;

const parts: Partial<Record<LegacyHookName, readonly Part[]>> = {
  before_model_resolve: [model],
  before_prompt_build: [texts, system],
  before_agent_start: [model, { ...texts, late: true }, { ...system, late: true }],
  message_sending: [{ fields: ['content'], fits: isText }],
  before_tool_call: [{ fields: ['params'], fits: isRecord }],
  tool_result_persist: [{ fields: ['message'], fits: isMessage }],
  before_message_write: [{ fields: ['message'], fits: isMessage }],
  subagent_spawning: [{ fields: ['status'], fits: isStatus }],
};

/** The field that ends a stage, where it is truthy. */
export const cancels: Partial<Record<LegacyHookName, string>> = {
  message_sending: 'cancel',
  before_tool_call: 'block',
  before_message_write: 'block',
};

/** What the pipeline takes of an answer. */
export interface Taken {
  readonly value: unknown;
  /** Nothing of it counts. */
  readonly isNone: boolean;
  /** How many failures are told at the end, by dispatch. */
  readonly told: readonly (0 | 1)[];
}

/** Takes an answer as the stage does: whole, or without the parts that it refuses. */
export function accept(hook: LegacyHookName, spec: HandlerSpec, value: unknown, rows: Rows): Taken {
  if (!isRecord(value)) {
    if (!rows.take('refused-output', true)) return { value, isNone: false, told: [] };
    // an empty list is a list of no candidates
    const isEmpty = hook === 'subagent_delivery_target' && Array.isArray(value) && !value.length;
    return { value: undefined, isNone: true, told: isEmpty ? [] : [0] };
  }
  const refused = (parts[hook] ?? []).filter((part) => isRefused(part, spec, value, rows));
  if (refused.length === 0) return { value, isNone: false, told: [] };
  const told = refused.map(({ late }) => (late ? 1 : 0));
  const rest = remains(hook, value, refused);
  return { value: rest, isNone: Object.keys(rest).length === 0, told };
}

function isRefused(part: Part, { pluginId }: HandlerSpec, value: Fields, rows: Rows): boolean {
  const given = part.fields.map((field) => value[field]).filter(isGiven);
  if (given.length === 0) return false;
  if (part.needsTrust && pluginId === untrustedPlugin)
    return rows.take('system-prompt-needs-trust', true);
  return rows.take('refused-output', !given.every(part.fits));
}

/** The parts that were not refused, and a cancel. What the stage does not know is gone. */
function remains(hook: LegacyHookName, value: Fields, refused: readonly Part[]): Fields {
  if (hook === 'subagent_spawning') return {};
  const kept = (parts[hook] ?? []).filter((part) => !refused.includes(part));
  const fields = kept.flatMap((part) => part.fields);
  const cancel = cancels[hook];
  const rest: Record<string, unknown> = {};
  for (const field of fields) if (isGiven(value[field])) rest[field] = value[field];
  if (cancel !== undefined && value[cancel]) {
    rest[cancel] = true;
    if (isText(value['blockReason'])) rest['blockReason'] = value['blockReason'];
  }
  return rest;
}
