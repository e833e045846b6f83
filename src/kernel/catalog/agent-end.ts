import { type Static, Type } from 'typebox';
import { named } from '../stage/named.js';
import { defineStage } from '../stage/stage.js';
import { annotations } from './pieces/annotations.js';
import {
  amount,
  closed,
  flag,
  oneOf,
  opaque,
  opaques,
  optional,
  text,
  texts,
} from './pieces/field.js';
import { callFields, runFields, usage } from './pieces/run.js';

const agentCompletedPayload = Type.Object(
  {
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
  },
  closed,
);
/** The payload of `agent.completed`. */
export interface AgentCompleted extends Static<typeof agentCompletedPayload> {}

const fallback = Type.Object(
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
  { ...closed, description: 'That a model other than the one asked for answered.' },
);

/** That a model other than the one asked for answered. */
export interface ModelFallback extends Static<typeof fallback> {}

const agentLlmOutputPayload = Type.Object(
  {
    ...callFields,
    assistantTexts: texts('The texts that the model wrote, in order.'),
    lastAssistant: optional(opaque("The last message of the model, in its agent's own form.")),
    usage: optional(usage),
    stopReason: optional(text('Why it stopped, in the words of the provider.')),
    error: optional(text('What went wrong at the provider.')),
    durationMs: optional(amount('How long the call took, in milliseconds.')),
    fallback: optional(fallback),
  },
  closed,
);
/** The payload of `agent.llm.output`. */
export interface AgentLlmOutput extends Static<typeof agentLlmOutputPayload> {}

export const agentEndStages = [
  defineStage({
    family: 'agent.completed',
    classes: ['observer', 'augmenter'],
    mode: 'sequential',
    payload: named<AgentCompleted>(agentCompletedPayload),
    shared: ['messages'],
    annotations: Type.Pick(annotations, ['notes', 'labels', 'memoryKeys', 'summary'], closed),
    replaceable: ['summary'],
    timeoutMs: 30_000,
    stageTimeoutMs: 60_000,
    purpose: 'Captures a finished run: memory storage, metrics.',
    emitter: 'host',
    emittedBy: 'turn',
    emittedWhen: 'when every event of a run has been handled',
  }),
  defineStage({
    family: 'agent.llm.output',
    classes: ['observer', 'augmenter'],
    mode: 'sequential',
    payload: named<AgentLlmOutput>(agentLlmOutputPayload),
    shared: ['lastAssistant'],
    annotations: Type.Pick(annotations, ['notes', 'labels', 'language', 'summary'], closed),
    replaceable: ['language', 'summary'],
    purpose: 'Audit and usage of what the model provider answered, and enrichment of it.',
    emitter: 'host',
    emittedBy: 'turn',
    emittedWhen: 'when the run is over, after agent.completed',
  }),
] as const;
