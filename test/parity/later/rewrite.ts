import type { LegacyDivergenceName } from '../../../src/openclaw/index.js';
import { rowsOf } from '../../../src/openclaw/profiles/index.js';
import { type Fields, type HandlerSpec, type HookSet, untrustedPlugin } from '../hooks/hook-set.js';
import { itsWords } from '../model/failure.js';
import { inOrder } from '../model/order.js';
import { Rows } from '../model/rows.js';

type Set9 = HookSet<string>;

/** A set as the rows say that it is here: the real runner must end, call and tell with it as ours does with the set itself. */
export interface Rewritten {
  readonly set: Set9;
  /** The place that each handler has in the set itself. */
  readonly indices: readonly number[];
  /** The rows that changed something. */
  readonly rows: readonly LegacyDivergenceName[];
  /** The handlers of whose results a part is refused, and told. */
  readonly told: readonly { readonly handler: number; readonly pluginId: string }[];
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string' || (isRecord(value) && '$' in value);
const isMessage = (value: unknown) =>
  !value || (isRecord(value) && ('$' in value || typeof value['role'] === 'string'));
const places = ['channel', 'accountId', 'to', 'threadId'];
const isPlace = (value: unknown) =>
  isRecord(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((key) => places.includes(key));

type Test = (value: unknown) => boolean;

/** A part of an answer, by itself for its stage: its fields with what the stage takes in them, or when it is there. */
type Part = Readonly<Record<string, Test>>;

const isTrue: Test = (value) => value === true;

const contexts: readonly Part[] = [{ prependContext: isText, appendContext: isText }];
/** The text of a reply's payload, if it has one. */
const textIn = (payload: unknown): unknown => (Object(payload) as Fields)['text'] ?? undefined;

const parts: Readonly<Record<string, readonly Part[]>> = {
  agent_turn_prepare: contexts,
  heartbeat_prompt_contribution: contexts,
  reply_payload_sending: [{ payload: (value) => isText(textIn(value) ?? '') }],
  before_model_resolve: [{ modelOverride: isText, providerOverride: isText }],
  before_prompt_build: [
    {
      ...{ prependContext: isText, appendContext: isText },
      ...{ prependSystemContext: isText, appendSystemContext: isText },
    },
    { systemPrompt: isText },
  ],
  before_agent_reply: [{ reply: (value) => !isRecord(value) || isText(value['text'] ?? '') }],
  message_sending: [{ content: isText, metadata: isRecord }],
  before_tool_call: [
    { params: isRecord },
    { requireApproval: (value) => !value || (isRecord(value) && isText(value['title'])) },
  ],
  tool_result_persist: [{ message: isMessage }],
  before_message_write: [{ message: isMessage }],
};

/** The fields by which an answer ends its stage, whatever else of it is refused. */
const enders: Readonly<Record<string, readonly [field: string, ends: Test]>> = {
  message_sending: ['cancel', isTrue],
  reply_payload_sending: ['cancel', isTrue],
  before_tool_call: ['block', isTrue],
  before_message_write: ['block', Boolean],
};

/** The hooks whose texts are added to the prompt. */
const adding = ['before_prompt_build', 'agent_turn_prepare', 'heartbeat_prompt_contribution'];

/** Returns whether a handler is for the tool of a set. */
function isMatched({ event }: Set9, { options }: HandlerSpec): boolean {
  const plain = (name: unknown): string => String(name).trim().toLowerCase();
  const { matcher } = options ?? {};
  return matcher === undefined || matcher.some((name) => plain(name) === plain(event['toolName']));
}

/** Rewrites a set by the rows of profile 2026.9. */
export function asHere(set: Set9): Rewritten {
  const { hook } = set;
  const row = rowsOf('2026.9')[hook];
  const changes = row?.kind !== 'void';
  const used = new Set<LegacyDivergenceName>();
  const told: Rewritten['told'][number][] = [];
  const order = new Rows(['priority-must-be-finite', 'ties-across-plugins']);
  const placed = inOrder(set.handlers, order);
  for (const name of order.used) used.add(name);
  const answering = placed.filter(
    ({ spec }) => spec.timing !== 'never' && 'returns' in spec.ends && isRecord(spec.ends.returns),
  );
  const isSync = row?.kind === 'sync';
  const throwing = (says: string) => ({ throws: { says, isBare: isSync } });
  const given = new Set<string>();
  let reply = textIn(set.event['payload']);
  let isAsked = false;
  let isPromptSet = false;
  const isResolver = row?.parts.some((part) => part.class === 'resolver') === true;
  const handlers = placed.map(({ spec, index }) => {
    let now: HandlerSpec = { ...spec, at: index };
    const failing = (name: LegacyDivergenceName, says: string): void => {
      used.add(name);
      now = { ...now, ends: throwing(says) };
    };
    if ('throws' in spec.ends) {
      if (spec.ends.throws === 'unreadable')
        failing('unreadable-error-is-told', 'an error that cannot be read');
      if (spec.ends.throws === 'record' && !isSync)
        failing('odd-error-is-a-text', '[object Object]');
    } else if (
      changes &&
      spec.timing !== 'never' &&
      (!isSync || (spec.timing === 'now' && spec.ends.returns))
    ) {
      const refusedBefore = told.length;
      now = { ...now, ends: { returns: rewriteAnswer(spec.ends.returns) } };
      const { block, params } = Object(spec.ends.returns) as Fields;
      const isOfParams = params !== undefined && params !== null && !isRecord(params);
      const refused = told.length - refusedBefore - (isOfParams ? 1 : 0); // refused params end nothing at once
      if (row?.isClosed === true && block !== true && refused > 0)
        now = { ...now, ends: throwing(itsWords) };
    }
    if (spec.timing === 'never' && changes && spec.options?.timeoutMs === undefined) {
      used.add('hanging-handler-is-cut');
      told.push({ handler: index, pluginId: spec.pluginId });
      now = { ...now, timing: 'async', ends: { returns: undefined } };
    }
    return now;

    function rewriteAnswer(answer: unknown): unknown {
      if (answer === undefined || answer === null) return answer;
      if (hook === 'before_agent_run') return answer; // each answer is a decision, or blocks
      const refused = (name: LegacyDivergenceName): undefined => {
        used.add(name);
        told.push({ handler: index, pluginId: spec.pluginId });
      };
      if (!isRecord(answer)) {
        const isNone = isResolver && Array.isArray(answer) && answer.length === 0; // no candidate
        if (isNone) used.add('refused-output');
        if (isNone) return undefined;
        return isSync ? answer : refused('refused-output');
      }
      const value: Fields = { ...answer };
      const drop = (name: LegacyDivergenceName, key: string): void => {
        used.add(name);
        delete value[key];
      };
      for (const [key, one] of Object.entries(answer)) {
        if (one === null && row?.kind !== 'claim' && key !== 'toolsAllow')
          drop('null-field-is-left-out', key);
        if (one === '' && given.has(key)) drop('empty-text-adds-nothing', key);
      }
      const [ender = '', ends = isTrue] = enders[hook] ?? [];
      const isRead = row?.kind !== 'claim' || value['handled'];
      const isEnded = ends(value[ender]);
      let isTaken = isEnded;
      let isRefused = false;
      for (const part of isRead ? (parts[hook] ?? []) : []) {
        const there = Object.keys(part).filter((key) => value[key] !== undefined);
        const isPrompt = there.includes('systemPrompt');
        if (there.length === 0 || (isPrompt && isPromptSet)) continue;
        if (hook === 'before_tool_call' && isAsked) continue;
        if (isEnded && 'requireApproval' in part) continue; // it is blocked
        const isTheirs = isPrompt && spec.pluginId === untrustedPlugin;
        if (!isTheirs && there.every((key) => part[key]?.(value[key]))) {
          isTaken = true;
          isPromptSet ||= isPrompt;
          continue;
        }
        isRefused = true;
        refused(isTheirs ? 'system-prompt-needs-trust' : 'refused-output');
        for (const key of there) delete value[key];
      }
      if (hook === 'reply_payload_sending' && value['payload'] !== undefined) {
        reply = textIn(value['payload']) ?? reply;
        const whole = { ...Object(set.event['payload']), text: reply };
        if (JSON.stringify(whole) !== JSON.stringify(value['payload']))
          used.add('reply-text-alone-counts');
        value['payload'] = whole;
      }
      const { reason } = value;
      if (isRefused && !isTaken) return hook === 'reply_payload_sending' ? { reason } : undefined;
      // they are read of answers that were taken whole
      if (isRefused) for (const key of ['toolsAllow', 'cancelReason']) delete value[key];
      if (hook === 'before_tool_call' && value['requireApproval'] && isMatched(set, spec))
        isAsked = true;
      if (adding.includes(hook) && spec.timing !== 'never')
        for (const [key, one] of Object.entries(value))
          if (key !== 'systemPrompt' && one !== undefined) given.add(key);
      if (hook === 'subagent_delivery_target') {
        if (value['origin'] !== undefined && !isPlace(value['origin']))
          drop('unfit-origin-is-no-candidate', 'origin');
        if (answering.length > 1)
          for (const key of Object.keys(value))
            if (key !== 'origin') drop('extra-fields-of-several-answers', key);
      }
      return value;
    }
  });
  return {
    set: { ...set, handlers },
    indices: placed.map(({ index }) => index),
    rows: [...used],
    told,
  };
}
