import type { Fields, PayloadOf } from '../../kernel/index.js';
import { definedRecordOf } from '../facts/field-table.js';
import { agentHooks } from '../hooks/agent.js';
import { agentContext } from '../hooks/run-context.js';
import { hostedHook, inRun } from './merging.js';
import type { LegacyClaimResult, LegacyGateDecision, LegacyRunContext } from './shapes.js';

/** A model call in the words of the hooks that tell of its time and no word of its text. */
const modelCall = (
  payload: Fields & { readonly runId: string; readonly provider: string; readonly model: string },
) => {
  const { runId, sessionKey, sessionId, provider, model } = payload;
  return { runId, callId: runId, sessionKey, sessionId, provider, model };
};

type ModelCall = ReturnType<typeof modelCall>;

const contextOf = (payload: object) => definedRecordOf(agentContext, payload);

/** The hooks of a turn of the agent that profile 2026.9 added, and those that changed. */
export const turnHooks9 = {
  before_agent_reply: hostedHook<{ cleanedBody: string }, LegacyRunContext, LegacyClaimResult>()({
    kind: 'modifying',
    why: 'Not called: nothing answers in place of the model. before_dispatch answers before an agent is chosen.',
    merge: 'the first that handles it ends the call',
  }),
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
  before_agent_run: hostedHook<
    { prompt: string; messages: unknown[]; systemPrompt?: string; channelId?: string },
    LegacyRunContext,
    { decision: LegacyGateDecision; pluginId: string }
  >()({
    kind: 'modifying',
    why: 'Not called: nothing judges the prompt of a run. before_dispatch can end a message before it.',
    merge: 'the first block ends the call; an invalid decision blocks',
  }),
};
