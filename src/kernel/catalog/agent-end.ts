import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, atLength } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { callFields, runFields, usage } from './pieces/run.js';

const agentCompletedPayload = f.object({
  ...runFields,
  success: f.flag('The run was neither aborted nor ended by an error.'),
  aborted: f.optional(f.flag('Someone stopped it.')),
  error: f.optional(f.text('What went wrong.')),
  stopReason: f.optional(f.text('Why the last message ended, in the words of its provider.')),
  messages: f.optional(f.opaques('What the agent got of the transcript, and what the run added.')),
  startedAtMs: f.optional(f.amount('When the run began, in milliseconds since 1970.')),
  endedAtMs: f.optional(f.amount('When the run ended, in milliseconds since 1970.')),
  durationMs: f.optional(f.amount('How long it took, in milliseconds.')),
  usage: f.optional(usage),
});
/** The payload of `agent.completed`. */
export interface AgentCompleted extends Readonly<Infer<typeof agentCompletedPayload>> {}

export const fallback = f.object(
  {
    phase: f.oneOf(['active', 'cleared'], 'Whether another model took over, or the first is back.'),
    selectedProvider: f.optional(f.text('The provider that was asked for.')),
    selectedModel: f.optional(f.text('The model that was asked for.')),
    activeProvider: f.optional(f.text('The provider that answers.')),
    activeModel: f.optional(f.text('The model that answers.')),
    previousActiveModel: f.optional(f.text('The model that had taken over.')),
    reasonSummary: f.optional(f.text('Why, in a sentence.')),
    attemptSummaries: f.optional(f.texts('What became of each attempt, in a sentence.')),
    attempts: f.optional(f.opaques('The attempts, as their source records them.')),
  },
  'That a model other than the one asked for answered.',
);

/** That a model other than the one asked for answered. */
export interface ModelFallback extends Infer<typeof fallback> {}

const agentLlmOutputPayload = f.object({
  ...callFields,
  assistantTexts: f.texts('The texts that the model wrote, in order.'),
  lastAssistant: f.optional(f.opaque("The last message of the model, in its agent's own form.")),
  usage: f.optional(usage),
  stopReason: f.optional(f.text('Why it stopped, in the words of the provider.')),
  error: f.optional(f.text('What went wrong at the provider.')),
  durationMs: f.optional(f.amount('How long the call took, in milliseconds.')),
  fallback: f.optional(fallback),
});
/** The payload of `agent.llm.output`. */
export interface AgentLlmOutput extends Readonly<Infer<typeof agentLlmOutputPayload>> {}

export const agentEndStages = [
  annotatedStage({
    family: 'agent.completed',
    payload: named<AgentCompleted>(agentCompletedPayload),
    shared: ['messages'],
    annotations: annotated('memoryKeys', 'summary'),
    principal: true,
    ...atLength,
    purpose: 'Captures a finished run: memory storage, metrics.',
    emittedBy: 'turn',
    emittedWhen: 'when every event of a run has been handled',
  }),
  annotatedStage({
    family: 'agent.llm.output',
    payload: named<AgentLlmOutput>(agentLlmOutputPayload),
    shared: ['lastAssistant'],
    annotations: annotated('language', 'summary'),
    purpose: 'Audit and usage of what the model answered.',
    emittedBy: 'turn',
    emittedWhen: 'when the run is over, after agent.completed',
  }),
] as const;
