import {
  type AskAnswer,
  ask,
  cancel,
  definedFields,
  type Fields,
  isFields,
  type PayloadOf,
  type Principal,
} from 'sluice-kernel/internal';
import { type FieldTable, same, shown } from '../facts/field-table.js';
import { measured } from '../facts/known.js';
import { modifyingHook, voidHook } from './make-row.js';
import { type Answer, extrasOf, isGiven, lastGiven } from './row.js';
import { writable } from './run-context.js';
import type { LegacyRequester, LegacyToolContext } from './shapes.js';

/** The account of a channel that names none. */
const defaultAccountId = 'default';

/** The requester of a legacy context, of a principal. Its role ids are the roles that the operator has given. */
function requesterOf(principal: Principal | undefined): LegacyRequester | undefined {
  if (principal === undefined) return undefined;
  const { channel, accountId, senderId, isOwner, roles } = principal;
  return { channel, accountId, senderId, senderIsOwner: isOwner, roleIds: [...roles] };
}

/**
 * The principal of a requester. The host that calls the legacy runner has proven it. One without a channel or a sender proves
 * nobody.
 */
function principalOf(requester: LegacyRequester): Principal | undefined {
  const { channel, accountId, senderId, senderIsOwner, roleIds }: Unchecked = Object(requester);
  if (!isName(channel) || !isName(senderId)) return undefined;
  const roles = Array.isArray(roleIds) ? roleIds.filter(isName) : [];
  return {
    ...{ channel, accountId: isName(accountId) ? accountId : defaultAccountId, senderId },
    ...{ isOwner: senderIsOwner === true, roles: [...new Set(roles)].sort() },
  };
}

type Unchecked = { readonly [Key in keyof LegacyRequester]?: unknown };

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const toolContext: FieldTable<LegacyToolContext, Omit<LegacyToolContext, 'requester'>> = {
  ...same('agentId', 'sessionKey', 'sessionId', 'runId', 'toolCallId'),
  toolName: shown('toolName'),
  requester: {
    principal: principalOf,
    show: (_payload, _envelope, principal) => requesterOf(principal),
  },
};

/** A handler may write to the parameters of its event. */
export const params = {
  to: 'params',
  show: (payload: { readonly params: Fields }) => writable(payload.params),
};

export const readParams = ({ value, inPlace }: Answer) => {
  const { params: given } = value;
  if (isGiven(given) && !isFields(given)) return { params: given };
  const set = { ...inPlace, ...(given as Fields | undefined) }; // an object, or nothing
  return Object.keys(set).length === 0 ? undefined : { params: set };
};

type Resolution = 'allow-once' | 'allow-always' | 'deny' | 'timeout' | 'cancelled';

/** The end of a question in the words of a plugin. */
const resolutions: Readonly<Record<AskAnswer, Resolution>> = {
  allowed: 'allow-once',
  denied: 'deny',
  expired: 'timeout',
  withdrawn: 'cancelled',
};

/** A question of a plugin (judgement §4.13). If a part of it is of a wrong type, the kernel refuses the call and says so. */
export const readApproval = (required: unknown) => {
  if (!isFields(required)) return ask({ title: '' });
  const { title, description, timeoutMs, allowedDecisions, onResolution } = required;
  const decisions = Array.isArray(allowedDecisions) ? allowedDecisions : [];
  const mayAlways = decisions.includes('allow-always');
  if (decisions.includes('deny') && !mayAlways && !decisions.includes('allow-once'))
    return cancel('approval-denied', { text: 'the plugin lets nobody allow it' });
  return {
    kind: 'ask',
    title,
    ...definedFields({ text: description ?? undefined, timeoutMs: timeoutMs ?? undefined }),
    ...(mayAlways && { scopes: ['tool'] }),
    ...(typeof onResolution === 'function' && {
      onAnswer: (answer: AskAnswer): unknown => onResolution(resolutions[answer]),
    }),
  };
};

const readBlock = ({ value }: Answer) => {
  if (!value.block)
    return isGiven(value.requireApproval) ? readApproval(value.requireApproval) : undefined;
  const { blockReason } = value;
  return cancel('blocked', typeof blockReason === 'string' ? { text: blockReason } : {});
};

/**
 * The keys that answers or canonical handlers set, with what they came to: the legacy caller lays them over its own. They
 * stand as in the last answer, which is what the legacy runner gives back.
 */
function paramsSet(
  payload: PayloadOf<'agent.tool.calling'>,
  answers: readonly Fields[],
  canonicalWrites: readonly string[],
): Fields | undefined {
  const given = answers.map((answer) => answer.params).filter(isFields);
  const keys = new Set(given.toReversed().flatMap(Object.keys));
  for (const path of canonicalWrites)
    if (path.startsWith('params.')) keys.add(path.slice('params.'.length));
  if (given.length === 0 && keys.size === 0) return undefined;
  return Object.fromEntries([...keys].map((key) => [key, payload.params[key]]));
}

/** The hooks around a tool call. */
export const toolHooks = {
  before_tool_call: modifyingHook('agent.tool.calling')<
    { toolName: string; params: Record<string, unknown>; runId?: string; toolCallId?: string },
    LegacyToolContext,
    {
      params?: Record<string, unknown>;
      block?: boolean;
      blockReason?: string;
      requireApproval?: {
        title: string;
        description?: string;
        timeoutMs?: number;
        /** `allow-always` offers "always" for the tool. If it allows nothing, nobody is asked. */
        allowedDecisions?: readonly string[];
        /** It is not read: a question without an answer refuses the call. */
        timeoutBehavior?: 'allow' | 'deny';
        onResolution?: (decision: Resolution) => unknown;
      };
    }
  >({
    parts: [
      { class: 'mutator', read: readParams },
      { class: 'veto', read: readBlock },
    ],
    why: 'One handler that may change, block and ask: a mutator and a veto over a single call of it. What it sets of params in place counts, as in the legacy caller; a key that it deletes stays.',
    merge: 'params: by key, the last of each; block: ends the stage',
    honoursInPlace: 'params',
    instead: '{ params }',
    event: { ...same('toolName', 'runId', 'toolCallId'), params },
    context: toolContext,
    result: ({ outcomes: [outcome], answers, canonicalWrites }) => {
      const payload = outcome.payload as PayloadOf<'agent.tool.calling'>;
      const params = paramsSet(payload, answers, canonicalWrites);
      const isRefused = outcome.status !== 'passed';
      if (answers.length === 0 && params === undefined && !isRefused) return undefined;
      const said = lastGiven(answers, 'block');
      const why = outcome.status === 'cancelled' ? outcome.cancel.text : undefined;
      const reason = why ?? lastGiven(answers, 'blockReason');
      return {
        ...extrasOf(answers, ['params', 'block', 'blockReason']),
        ...definedFields({ params }),
        ...(isRefused ? { block: said || true } : isGiven(said) && { block: said && false }),
        ...(isGiven(reason) && { blockReason: reason }),
      };
    },
  }),
  after_tool_call: voidHook('agent.tool.called')<
    {
      toolName: string;
      params: Record<string, unknown>;
      runId?: string;
      toolCallId?: string;
      result?: unknown;
      error?: string;
      durationMs?: number;
    },
    LegacyToolContext
  >({
    why: 'Told when a tool has answered, failed or been refused. It is not waited for.',
    instead: 'nothing: this hook only observes; tool_result_persist changes what is written',
    event: {
      ...same('toolName', 'runId', 'toolCallId', 'result'),
      params,
      error: {
        to: 'error',
        show: ({ error, isError }) =>
          error ?? (isError === true ? 'the tool did not say why' : undefined),
      },
      durationMs: measured('durationMs'),
    },
    context: toolContext,
    adds: ({ error }) => (error === undefined ? {} : { isError: true }),
  }),
};
