import { cancel, definedFields, type PayloadOf } from '../../kernel/index.js';
import { knownAmount } from '../facts/known.js';
import { modifyingHook, voidHook } from './make-row.js';
import { type Answer, extrasOf, type Fields, isFields, isGiven, lastGiven } from './row.js';
import { payloadOf, runRefs, writable } from './run-context.js';
import type { LegacyToolContext } from './shapes.js';

interface ToolPayload {
  readonly toolName: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  readonly runId?: string;
  readonly toolCallId?: string;
}

function toolContextOf(payload: ToolPayload): LegacyToolContext {
  const { toolName, agentId, sessionKey, sessionId, runId, toolCallId } = payload;
  return { toolName, ...definedFields({ agentId, sessionKey, sessionId, runId, toolCallId }) };
}

function toolFieldsOf(
  event: { toolName: string; runId?: string; toolCallId?: string },
  ctx: LegacyToolContext,
) {
  const { agentId, sessionKey, sessionId } = ctx;
  const runId = event.runId ?? ctx.runId;
  const toolCallId = event.toolCallId ?? ctx.toolCallId;
  return {
    toolName: event.toolName,
    ...definedFields({ agentId, sessionKey, sessionId, runId, toolCallId }),
  };
}

const readParams = ({ value, inPlace }: Answer) => {
  const { params } = value;
  if (isGiven(params) && !isFields(params)) return { params };
  const set = { ...inPlace, ...(params as Fields | undefined) }; // an object, or nothing
  return Object.keys(set).length === 0 ? undefined : { params: set };
};

const readBlock = ({ value }: Answer) => {
  if (!value.block) return undefined;
  const { blockReason } = value;
  return cancel('blocked', typeof blockReason === 'string' ? { text: blockReason } : {});
};

/** The keys that answers or canonical handlers set, with what they came to: the legacy caller lays them over its own. */
function paramsSet(
  payload: PayloadOf<'agent.tool.calling'>,
  answers: readonly Fields[],
  canonicalWrites: readonly string[],
): Fields | undefined {
  const given = answers.map((answer) => answer.params).filter(isFields);
  const keys = new Set(given.flatMap(Object.keys));
  for (const path of canonicalWrites)
    if (path.startsWith('params.')) keys.add(path.slice('params.'.length));
  if (given.length === 0 && keys.size === 0) return undefined;
  return Object.fromEntries([...keys].map((key) => [key, payload.params[key]]));
}

/** The hooks around a tool call. */
export const toolHooks = {
  before_tool_call: modifyingHook<
    { toolName: string; params: Record<string, unknown>; runId?: string; toolCallId?: string },
    LegacyToolContext,
    { params?: Record<string, unknown>; block?: boolean; blockReason?: string }
  >({
    parts: [
      { family: 'agent.tool.calling', class: 'mutator', read: readParams },
      { family: 'agent.tool.calling', class: 'veto', read: readBlock },
    ],
    coverage: ['mutate', 'veto'],
    why: 'One handler that may change and block: a mutator and a veto over a single call of it. What it sets of params in place counts, as in the legacy caller; a key that it deletes stays.',
    merge: 'params: by key, the last of each; block: ends the stage',
    honoursInPlace: 'params',
    instead: '{ params }',
    announce: (event, ctx) => [
      {
        family: 'agent.tool.calling',
        payload: { ...toolFieldsOf(event, ctx), params: event.params },
        given: runRefs(ctx),
      },
    ],
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'agent.tool.calling'>>(envelope);
      const { toolName, runId, toolCallId } = payload;
      const params = writable(payload.params);
      return {
        event: { toolName, params, ...definedFields({ runId, toolCallId }) },
        ctx: toolContextOf(payload),
      };
    },
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
  after_tool_call: voidHook<
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
    parts: [{ family: 'agent.tool.called', class: 'observer' }],
    why: 'Told when a tool has answered, failed or been refused. It is not waited for.',
    instead: 'nothing: this hook only observes; tool_result_persist changes what is written',
    announce: (event, ctx) => {
      const { params, result, error } = event;
      const told = definedFields({ result, error, durationMs: knownAmount(event.durationMs) });
      const isError = error === undefined ? {} : { isError: true };
      const payload = { ...toolFieldsOf(event, ctx), params, ...told, ...isError };
      return [{ family: 'agent.tool.called', payload, given: runRefs(ctx) }];
    },
    view: (envelope) => {
      const payload = payloadOf<PayloadOf<'agent.tool.called'>>(envelope);
      const { toolName, runId, toolCallId, result, isError, durationMs } = payload;
      const error = payload.error ?? (isError === true ? 'the tool did not say why' : undefined);
      const params = writable(payload.params);
      return {
        event: {
          toolName,
          params,
          ...definedFields({ runId, toolCallId, result, error, durationMs }),
        },
        ctx: toolContextOf(payload),
      };
    },
  }),
};
