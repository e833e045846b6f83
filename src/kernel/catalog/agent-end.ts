import type { Static } from 'typebox';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, atLength } from './pieces/canonical-stage.js';
import {
  amount,
  flag,
  object,
  oneOf,
  opaque,
  opaques,
  optional,
  text,
  texts,
} from './pieces/field.js';
import { callFields, runFields, usage } from './pieces/run.js';

const agentCompletedPayload = object({
  ...runFields,
  success: flag('The run was neither aborted nor ended by an error.'),
  aborted: optional(flag('Someone stopped it.')),
  error: optional(text('What went wrong.')),
  stopReason: optional(text('Why the last message ended, in the words of its provider.')),
  messages: optional(opaques('What the agent got of the transcript, and what the run added.')),
  startedAtMs: optional(amount('When the run began, in milliseconds since 1970.')),
  endedAtMs: optional(amount('When the run ended, in milliseconds since 1970.')),
  durationMs: optional(amount('How long it took, in milliseconds.')),
  usage: optional(usage),
});
/** The payload of `agent.completed`. */
export interface AgentCompleted extends Readonly<Static<typeof agentCompletedPayload>> {}

export const fallback = object(
  {
    phase: oneOf(['active', 'cleared'], 'Whether another model took over, or the first is back.'),
    selectedProvider: optional(text('The provider that was asked for.')),
    selectedModel: optional(text('The model that was asked for.')),
    activeProvider: optional(text('The provider that answers.')),
    activeModel: optional(text('The model that answers.')),
    previousActiveModel: optional(text('The model that had taken over.')),
    reasonSummary: optional(text('Why, in a sentence.')),
    attemptSummaries: optional(texts('What became of each attempt, in a sentence.')),
    attempts: optional(opaques('The attempts, as their source records them.')),
  },
  'That a model other than the one asked for answered.',
);

/** That a model other than the one asked for answered. */
export interface ModelFallback extends Static<typeof fallback> {}

const agentLlmOutputPayload = object({
  ...callFields,
  assistantTexts: texts('The texts that the model wrote, in order.'),
  lastAssistant: optional(opaque("The last message of the model, in its agent's own form.")),
  usage: optional(usage),
  stopReason: optional(text('Why it stopped, in the words of the provider.')),
  error: optional(text('What went wrong at the provider.')),
  durationMs: optional(amount('How long the call took, in milliseconds.')),
  fallback: optional(fallback),
});
/** The payload of `agent.llm.output`. */
export interface AgentLlmOutput extends Readonly<Static<typeof agentLlmOutputPayload>> {}

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
    purpose: 'Audit and usage of what the model provider answered, and enrichment of it.',
    emittedBy: 'turn',
    emittedWhen: 'when the run is over, after agent.completed',
  }),
] as const;
