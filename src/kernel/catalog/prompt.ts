import { type Static, Type } from 'typebox';
import { defineStage } from '../stage.js';
import { annotations } from './annotations.js';
import {
  amount,
  closed,
  count,
  oneOf,
  opaque,
  opaques,
  openRecord,
  optional,
  text,
  texts,
} from './field.js';
import { bootstrapFiles, promptPieces } from './piece.js';
import { runFields, usage } from './run.js';

export const agentModelResolvingPayload = Type.Object(
  {
    ...runFields,
    prompt: text('What the agent is asked.'),
    provider: optional(text('The model provider, as the host would choose.')),
    model: optional(text('The model, as the host would choose.')),
    providers: optional(texts('The providers that the host offers.')),
    imagesCount: optional(count('How many images come with the prompt.')),
  },
  closed,
);
/** The payload of `agent.model.resolving`. */
export interface AgentModelResolving extends Static<typeof agentModelResolvingPayload> {}

export const agentModelResolvingPatch = Type.Object(
  {
    provider: optional(text('The model provider to use instead.')),
    model: optional(text('The model to use instead.')),
  },
  closed,
);
/** What a mutator of `agent.model.resolving` may return. */
export interface AgentModelResolvingPatch extends Static<typeof agentModelResolvingPatch> {}

export const agentModelResolving = defineStage({
  family: 'agent.model.resolving',
  classes: ['mutator'],
  mode: 'sequential',
  payload: agentModelResolvingPayload,
  patch: agentModelResolvingPatch,
  laws: { provider: 'first-defined', model: 'first-defined' },
  onError: { mutator: 'open' },
  purpose: 'Overrides the model or its provider before either is looked up.',
  emitter: 'host',
  emittedAt: 'src/agent/model.ts: once per run, before the prompt is built',
});

export const agentPromptBuildingPayload = Type.Object(
  {
    ...runFields,
    prompt: text('What the agent is asked.'),
    messages: opaques('The transcript so far, oldest first, as much as the agent gets.'),
    systemPrompt: optional(text('The system prompt without the guidance.')),
    guidance: promptPieces(
      'Lasting instructions, system side; a plain text stands after the prompt.',
    ),
    additions: promptPieces(
      "This turn's context, user side; a plain text stands before the prompt.",
    ),
    bootstrapFiles: optional(bootstrapFiles('Files of the workspace that go into the prompt.')),
    config: optional(openRecord("The host's configuration, as its source hands it over.")),
  },
  closed,
);
/** The payload of `agent.prompt.building`. */
export interface AgentPromptBuilding extends Static<typeof agentPromptBuildingPayload> {}

export const agentPromptBuildingPatch = Type.Object(
  {
    systemPrompt: optional(text('The system prompt anew: trusted extensions only.')),
    guidance: optional(promptPieces('Further lasting instructions.')),
    additions: optional(promptPieces('Further context for this turn only.')),
    bootstrapFiles: optional(bootstrapFiles('All files that are to go into the prompt.')),
  },
  closed,
);
/** What a mutator of `agent.prompt.building` may return. */
export interface AgentPromptBuildingPatch extends Static<typeof agentPromptBuildingPatch> {}

export const agentPromptBuilding = defineStage({
  family: 'agent.prompt.building',
  classes: ['augmenter', 'mutator'],
  mode: 'sequential',
  payload: agentPromptBuildingPayload,
  patch: agentPromptBuildingPatch,
  laws: { systemPrompt: 'replace', guidance: 'append', additions: 'append' },
  trusted: ['systemPrompt'],
  shared: ['messages', 'config'],
  annotations: Type.Pick(annotations, ['notes', 'labels', 'context'], closed),
  purpose: 'Composes the prompt: lasting guidance, and additions for this turn.',
  emitter: 'host',
  emittedAt: 'src/agent/prompt.ts: once per attempt, before the provider is called',
});

const callFields = {
  ...runFields,
  runId: text('The agent run.'),
  provider: text('The model provider that is called.'),
  model: text('The model that is called.'),
};

export const agentLlmInputPayload = Type.Object(
  {
    ...callFields,
    systemPrompt: optional(text('The system prompt, guidance included.')),
    prompt: text('The prompt, additions included.'),
    historyMessages: opaques('The transcript before the prompt, as much as the agent gets.'),
    imagesCount: count('How many images go with the prompt.'),
  },
  closed,
);
/** The payload of `agent.llm.input`. */
export interface AgentLlmInput extends Static<typeof agentLlmInputPayload> {}

export const agentLlmInput = defineStage({
  family: 'agent.llm.input',
  classes: ['observer', 'augmenter'],
  mode: 'sequential',
  payload: agentLlmInputPayload,
  shared: ['historyMessages'],
  annotations: Type.Pick(annotations, ['notes', 'labels'], closed),
  purpose: 'Audit of what goes to the model provider.',
  emitter: 'host',
  emittedAt: 'src/stream/run/run-bounds.ts: just before the provider is called',
});

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

export const agentLlmOutputPayload = Type.Object(
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

export const agentLlmOutput = defineStage({
  family: 'agent.llm.output',
  classes: ['observer', 'augmenter'],
  mode: 'sequential',
  payload: agentLlmOutputPayload,
  shared: ['lastAssistant'],
  annotations: Type.Pick(annotations, ['notes', 'labels', 'language', 'summary'], closed),
  replaceable: ['language', 'summary'],
  purpose: 'Audit and usage of what the model provider answered, and enrichment of it.',
  emitter: 'host',
  emittedAt: 'src/stream/run/run-bounds.ts: when the run is over, after agent.completed',
});
