import {
  cancel,
  definedFields,
  type Envelope,
  type Fields,
  isFields,
  type Outcome,
  type PayloadOf,
  type Principal,
  select,
} from 'sluice-kernel/internal';
import { definedRecordOf } from '../facts/field-table.js';
import { agentHooks } from '../hooks/agent.js';
import { claimingHook, modifyingHook } from '../hooks/make-row.js';
import type { Answer } from '../hooks/row.js';
import { agentContext } from '../hooks/run-context.js';
import type { LegacyAgentContext } from '../hooks/shapes.js';
import { fieldsOf, hostedHook, inRun } from './merging.js';
import type { LegacyClaimResult, LegacyGateDecision, LegacyRunContext } from './shapes.js';

type Answering = 'agent.answer.resolving';

/** A model call in the words of the hooks that tell of its time and no word of its text. */
const modelCall = (
  payload: Fields & { readonly runId: string; readonly provider: string; readonly model: string },
) => {
  const { runId, sessionKey, sessionId, provider, model } = payload;
  return { runId, callId: runId, sessionKey, sessionId, provider, model };
};

type ModelCall = ReturnType<typeof modelCall>;

const contextOf = (payload: object) => definedRecordOf(agentContext, payload);

/** A fact about the sender of a message, which no payload has. */
const ofSender = <const Name extends 'accountId' | 'senderId' | 'isOwner'>(name: Name) => ({
  show: (_payload: object, _envelope?: Envelope, principal?: Principal) => principal?.[name],
});

/** The triggers of the runs that `before_agent_reply` is asked about. */
const claimable = ['user', 'cron', 'heartbeat'];
const isBlock = ({ outcome }: Fields): boolean => outcome === 'block';
const invalid = { outcome: 'block', reason: 'before_agent_run returned an invalid decision' };
const isWords = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
/** The fields of a block, and when one fits. Each but the reason may be left out. */
const blockFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  outcome: () => true,
  reason: isWords,
  message: isWords,
  category: isWords,
  metadata: (value) => isFields(value),
};

/** The hooks of a turn of the agent that profile 2026.9 added, and those that changed. */
export const turnHooks9 = {
  before_agent_reply: inRun(
    claimingHook('agent.answer.resolving')<
      { cleanedBody: string },
      LegacyAgentContext,
      LegacyClaimResult
    >({
      parts: [{ class: 'resolver', read: readReply }],
      why: 'The text of its reply is the answer in place of that of the model; files are not sent. It is called once per run of a message, a job or a heartbeat, before all other hooks of the run.',
      merge: 'the first that handles it ends the call',
      instead: '{ handled: true, reply: { text } }',
      event: { cleanedBody: 'prompt' },
      context: agentContext,
      tells: ({ attempt = 1, trigger = '' }) => attempt === 1 && claimable.includes(trigger),
      result: ({ outcomes: [outcome], answers }) => {
        const claim = answers.find(({ handled }) => handled);
        if (outcome.status !== 'passed') return { handled: true, reason: 'failed' };
        const { target: given } = (outcome as Outcome<Answering>).selection ?? {};
        const isTheirs = given !== undefined && fieldsOf(claim?.['reply'])['text'] !== given.text;
        return isTheirs ? { handled: true, reply: { ...given } } : claim && { ...claim };
      },
    }),
  ),
  model_call_started: hostedHook<ModelCall, LegacyRunContext>()({
    kind: 'void',
    parts: [{ family: 'agent.llm.input', class: 'observer' }],
    why: 'The same moment as llm_input, without a word of the prompt. A call has the id of its run.',
    merge: 'none: nothing is returned',
    view: ({ payload }) => ({
      event: modelCall(payload as PayloadOf<'agent.llm.input'>),
      ctx: contextOf(payload),
    }),
  }),
  model_call_ended: hostedHook<
    ModelCall & { durationMs: number; outcome: 'completed' | 'error' },
    LegacyRunContext
  >()({
    kind: 'void',
    parts: [{ family: 'agent.llm.output', class: 'observer' }],
    why: 'The same moment as llm_output, without a word of the answer.',
    merge: 'none: nothing is returned',
    view: ({ payload }) => {
      const ended = payload as PayloadOf<'agent.llm.output'>;
      const outcome = ended.error === undefined ? 'completed' : 'error';
      return {
        event: { ...modelCall(ended), durationMs: ended.durationMs ?? 0, outcome },
        ctx: contextOf(payload),
      };
    },
  }),
  llm_input: inRun(agentHooks.llm_input),
  llm_output: inRun(agentHooks.llm_output),
  before_agent_finalize: hostedHook<
    { runId?: string; sessionId: string; stopHookActive: boolean; lastAssistantMessage?: string },
    LegacyRunContext,
    { action?: 'continue' | 'revise' | 'finalize'; reason?: string }
  >()({
    kind: 'modifying',
    why: 'Not called: an answer is out before its run is over, and no run is made anew because of its words.',
    merge: 'finalize ends it; the instructions of those that revise are joined',
  }),
  agent_end: { ...inRun(agentHooks.agent_end), namesRun: true as const, timeoutMs: 30_000 },
  before_compaction: { ...inRun(agentHooks.before_compaction), timeoutMs: 30_000 },
  after_compaction: { ...inRun(agentHooks.after_compaction), timeoutMs: 30_000 },
  before_reset: inRun(agentHooks.before_reset),
  before_agent_run: inRun(
    modifyingHook('agent.llm.calling')<
      {
        prompt: string;
        messages: unknown[];
        systemPrompt?: string;
        channelId?: string;
        accountId?: string;
        senderId?: string;
        senderIsOwner?: boolean;
      },
      LegacyAgentContext,
      { decision: LegacyGateDecision; pluginId: string }
    >({
      parts: [{ class: 'veto', read: readDecision }],
      why: 'A gate on the composed prompt: a block is a cancel, and its message is the reply. It is asked after all others of the stage.',
      merge: 'the first block ends the call; an invalid decision blocks',
      instead: "{ outcome: 'block', reason }",
      band: 'last',
      isClosed: true,
      timeoutMs: 15_000,
      decisionOf: (result) => (isDecision(result) ? result : invalid),
      ends: (answer) => (isBlock(fieldsOf(answer)) ? 'gate-decision' : undefined),
      event: {
        prompt: { to: 'prompt', show: ({ prompt, composedPrompt }) => composedPrompt ?? prompt },
        messages: { to: 'messages', show: ({ messages }) => [...(messages ?? [])] },
        systemPrompt: 'systemPrompt',
        channelId: 'channel',
        accountId: ofSender('accountId'),
        senderId: ofSender('senderId'),
        senderIsOwner: ofSender('isOwner'),
      },
      context: agentContext,
      result: ({ answers, plugins }) => {
        if (answers.length === 0) return undefined;
        const at = Math.max(0, answers.findIndex(isBlock));
        return { decision: answers[at], pluginId: plugins[at] };
      },
    }),
  ),
};

function isDecision(given: unknown): given is Fields {
  if (typeof given !== 'object' || given === null) return false;
  const decision = fieldsOf(given);
  const fields = Object.entries(decision);
  if (decision['outcome'] === 'pass') return fields.length === 1;
  const fit = fields.every(
    ([name, value]) => Object.hasOwn(blockFields, name) && blockFields[name]?.(value) === true,
  );
  return isBlock(decision) && fit && 'reason' in decision;
}

function readDecision({ value }: Answer) {
  if (!isBlock(value)) return undefined;
  const { reason, message } = value as { readonly reason: string; readonly message?: string }; // a decision that fits
  return cancel('blocked', { text: reason, ...definedFields({ reply: message }) });
}

function readReply({ value: { handled, reply } }: Answer) {
  if (!handled) return undefined;
  const { text } = fieldsOf(reply);
  return select(definedFields({ text: text ?? undefined }) as { text?: string }); // the kernel refuses another type
}
