import type { Fields, PayloadOf } from 'sluice-kernel/internal';
import { modifyingHook, waysOf } from '../hooks/make-row.js';
import {
  modelColumns,
  modelResult,
  piece,
  promptResult,
  promptShape,
  readPieces,
  readSystemPromptIfUnset,
} from '../hooks/prompt.js';
import type { Answer } from '../hooks/row.js';
import type { LegacyAgentContext, LegacyModelResult } from '../hooks/shapes.js';
import { hostedHook, inRun, merged } from './merging.js';
import type { LegacyContextResult, LegacyPromptBuildResult, LegacyRunContext } from './shapes.js';

const family = 'agent.prompt.building';

/** The pieces of an answer, with those that stand after the prompt. */
const readAllPieces = (answer: Answer) => {
  const appended = piece(answer.value['appendContext'], 'after');
  const pieces = readPieces(answer);
  if (appended.length === 0) return pieces;
  return { ...pieces, additions: [...(pieces?.additions ?? []), ...appended] };
};

/** The tools that every answer allows, by name; nothing if no answer names any. */
function toolsAllowed(answers: readonly Fields[]): readonly string[] | undefined {
  const lists = answers.map((answer) => answer['toolsAllow']).filter((list) => list !== undefined);
  const named = lists.map((list) =>
    Array.isArray(list) && list.every((name) => typeof name === 'string') ? (list as string[]) : [],
  );
  return named.length === 0
    ? undefined
    : named.reduce((left, right) => left.filter((name) => right.includes(name)));
}

const contextParts = [{ family, class: 'mutator', read: readAllPieces }] as const;

/** The hooks that choose the model and compose the prompt, as profile 2026.9 has them. */
export const promptHooks9 = {
  before_model_resolve: inRun(
    modifyingHook('agent.model.resolving')<
      { prompt: string },
      LegacyAgentContext,
      LegacyModelResult
    >({ ...modelColumns, result: (ending) => merged(ending, modelResult(ending.outcomes[0])) }),
  ),
  agent_turn_prepare: hostedHook<
    { prompt: string; messages: unknown[]; queuedInjections: unknown[] },
    LegacyRunContext,
    LegacyContextResult
  >()({
    kind: 'modifying',
    parts: contextParts,
    why: 'The same moment as before_prompt_build: its texts become additions of the prompt.',
    merge: 'joined by a blank line, in order',
    instead: '{ prependContext, appendContext }',
    copies: 'once',
    view: (envelope, queued) => {
      const { event, ctx } = promptWays.view(envelope);
      const { runId = '' } = envelope.payload as PayloadOf<typeof family>; // the family of its part
      const queuedInjections = [...queued(ctx.sessionKey ?? '', runId)];
      return { event: { ...event, queuedInjections }, ctx };
    },
  }),
  before_prompt_build: inRun(
    modifyingHook(family)<
      { prompt: string; messages: unknown[] },
      LegacyAgentContext,
      LegacyPromptBuildResult
    >({
      parts: [
        { class: 'mutator', read: readAllPieces },
        { class: 'mutator', read: readSystemPromptIfUnset },
      ],
      why: 'As in 2026.3, but the first system prompt wins, and there is a place after the prompt. A handler with requiresToolAuthority is not registered, and toolsAllow narrows nothing here: the tools of an agent are known to the agent alone.',
      merge: 'systemPrompt: the first; the others joined by a blank line, in order',
      instead:
        '{ systemPrompt, prependContext, appendContext, prependSystemContext, appendSystemContext }',
      timeoutMs: 15_000,
      copies: 'once',
      tellsInvocation: true,
      ...promptShape,
      result: (ending) =>
        merged(ending, {
          ...promptResult(ending.outcomes[0], true),
          toolsAllow: toolsAllowed(ending.answers),
        }),
    }),
  ),
  heartbeat_prompt_contribution: hostedHook<
    { sessionKey?: string; agentId?: string; heartbeatName?: string },
    LegacyRunContext,
    LegacyContextResult
  >()({
    kind: 'modifying',
    parts: contextParts,
    why: 'Additions to the prompt of a run that a heartbeat started.',
    merge: 'joined by a blank line, in order',
    instead: '{ prependContext, appendContext }',
    wants: ({ payload }) => (payload as { readonly trigger?: string }).trigger === 'heartbeat',
    view: (envelope) => {
      const { ctx } = promptWays.view(envelope);
      const { sessionKey, agentId } = ctx;
      return { event: { sessionKey, agentId, heartbeatName: 'heartbeat' }, ctx };
    },
  }),
};

const promptWays = waysOf(family)<{ prompt: string; messages: unknown[] }, LegacyAgentContext>(
  promptShape,
);
