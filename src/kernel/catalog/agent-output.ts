import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { canonicalStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { callFields, startedRunFields } from './pieces/run.js';

const agentOutputDeltaPayload = f.object({
  ...startedRunFields,
  kind: f.oneOf(
    ['text', 'thinking', 'tool-progress', 'error'],
    'What has grown; error: the words of a provider that has failed, for operators alone.',
  ),
  text: f.optional(f.text('Everything of this kind so far in the message.')),
  delta: f.optional(f.text('What was added.')),
  mediaUrls: f.optional(f.texts('The media that the text names so far.')),
  messageIndex: f.optional(f.count('Which message of the run it belongs to, from 0.')),
  elapsedMs: f.optional(f.amount('How long this kind has been growing, in milliseconds.')),
  toolName: f.optional(f.text('The tool; for tool-progress.')),
  toolCallId: f.optional(f.text('The tool call; for tool-progress.')),
  partialResult: f.optional(f.opaque('What the tool has so far; for tool-progress.')),
});
/** The payload of `agent.output.delta`. */
export interface AgentOutputDelta extends Readonly<Infer<typeof agentOutputDeltaPayload>> {}

const answered = {
  thinking: f.optional(f.text('What it thought.')),
  calls: f.list(
    f.object({
      toolName: f.text('The tool.'),
      toolCallId: f.text('The call.'),
      params: f.openRecord('What the tool is to be called with.'),
    }),
    'The tools that it wants to call.',
  ),
};

const agentLlmReturningPayload = f.object({
  ...callFields,
  ...answered,
  text: f.text('What it said.'),
  streaming: f.flag('Parts of it were shown before it was whole.'),
});
/** The payload of `agent.llm.returning`. */
export interface AgentLlmReturning extends Readonly<Infer<typeof agentLlmReturningPayload>> {}

const agentLlmReturningPatch = f.object({
  thinking: answered.thinking,
  calls: f.optional(answered.calls),
  text: f.optional(f.text('What it is to have said.')),
});
/** The patch that a mutator of `agent.llm.returning` may return. */
export interface AgentLlmReturningPatch extends Infer<typeof agentLlmReturningPatch> {}

export const agentOutputStages = [
  canonicalStage({
    family: 'agent.output.delta',
    classes: ['observer'],
    mode: 'sync-sequential',
    hotPath: true,
    payload: named<AgentOutputDelta>(agentOutputDeltaPayload),
    shared: ['partialResult'],
    purpose: 'Shows output while it grows.',
    emittedBy: 'turn',
    emittedWhen: 'for each delta that the agent provider yields',
  }),
  canonicalStage({
    family: 'agent.llm.returning',
    classes: ['observer', 'mutator', 'veto'],
    mode: 'sequential',
    payload: named<AgentLlmReturning>(agentLlmReturningPayload),
    patch: named<AgentLlmReturningPatch>(agentLlmReturningPatch),
    cancelCodes: ['blocked', 'policy', 'unsafe'],
    cancelReplies: true,
    principal: true,
    purpose: 'Judges what a model has answered, before anybody reads it.',
    emittedBy: 'turn',
    emittedWhen: 'when a message of a model is whole, if a handler hears it',
  }),
] as const;
