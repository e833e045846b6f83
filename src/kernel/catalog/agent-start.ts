import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, canonicalStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { aroundFields } from './pieces/message.js';
import { bootstrapFiles, promptPieces } from './pieces/piece.js';
import { callFields, runFields, startedRunFields } from './pieces/run.js';

const agentStartingPayload = f.object({
  ...startedRunFields,
  prompt: f.optional(f.text('What the agent is asked.')),
  startedAtMs: f.optional(f.amount('When the run began, in milliseconds since 1970.')),
  attempt: f.optional(f.count('Which attempt this is, from 1.')),
  isHeartbeat: f.optional(f.flag('The run was started by a timer, not by a message.')),
  isUiVisible: f.optional(f.flag('People watching the host may see the run.')),
  verboseLevel: f.optional(f.oneOf(['off', 'on', 'full'], 'How much of its tools people see.')),
});
/** The payload of `agent.starting`. */
export interface AgentStarting extends Readonly<Infer<typeof agentStartingPayload>> {}

const agentModelResolvingPayload = f.object({
  ...runFields,
  prompt: f.text('What the agent is asked.'),
  provider: f.optional(f.text('The model provider, as the host would choose.')),
  model: f.optional(f.text('The model, as the host would choose.')),
  providers: f.optional(f.texts('The providers that the host offers.')),
  imagesCount: f.optional(f.count('How many images come with the prompt.')),
});
/** The payload of `agent.model.resolving`. */
export interface AgentModelResolving extends Readonly<Infer<typeof agentModelResolvingPayload>> {}

const agentModelResolvingPatch = f.object({
  provider: f.optional(f.text('The model provider to use instead.')),
  model: f.optional(f.text('The model to use instead.')),
});
/** The patch that a mutator of `agent.model.resolving` may return. */
export interface AgentModelResolvingPatch extends Infer<typeof agentModelResolvingPatch> {}

const agentPromptBuildingPayload = f.object({
  ...runFields,
  ...aroundFields,
  prompt: f.text('What the agent is asked.'),
  messages: f.opaques('The transcript so far, oldest first, as much as the agent gets.'),
  systemPrompt: f.optional(f.text('The system prompt without the guidance.')),
  guidance: promptPieces(
    'Lasting instructions, system side; a plain text stands after the prompt.',
  ),
  additions: promptPieces("This turn's context, user side; a plain text stands before the prompt."),
  bootstrapFiles: f.optional(bootstrapFiles('Files of the workspace that go into the prompt.')),
  config: f.optional(f.openRecord("The host's configuration, as its source hands it over.")),
});
/** The payload of `agent.prompt.building`. */
export interface AgentPromptBuilding extends Readonly<Infer<typeof agentPromptBuildingPayload>> {}

const agentPromptBuildingPatch = f.object({
  systemPrompt: f.optional(f.text('The system prompt anew: trusted extensions only.')),
  guidance: f.optional(promptPieces('Further lasting instructions.')),
  additions: f.optional(promptPieces('Further context for this turn only.')),
  bootstrapFiles: f.optional(bootstrapFiles('All files that are to go into the prompt.')),
});
/** The patch that a mutator of `agent.prompt.building` may return. */
export interface AgentPromptBuildingPatch extends Infer<typeof agentPromptBuildingPatch> {}

const agentAnswerResolvingPayload = f.object({
  ...runFields,
  prompt: f.text('What the agent is asked.'),
  attempt: f.optional(f.count('Which attempt this is, from 1.')),
  messages: f.optional(
    f.opaques('The transcript so far, oldest first, as much as the agent gets.'),
  ),
});
/** The payload of `agent.answer.resolving`. */
export interface AgentAnswerResolving extends Readonly<Infer<typeof agentAnswerResolvingPayload>> {}

const agentLlmCallingPayload = f.object({
  ...agentAnswerResolvingPayload.properties,
  composedPrompt: f.optional(f.text('The prompt for the model, additions included.')),
  systemPrompt: f.optional(f.text('The system prompt, guidance included.')),
  provider: f.optional(f.text('The model provider that would be called.')),
  model: f.optional(f.text('The model that would be called.')),
  call: f.optional(f.count('Which call of a model in this attempt it is, from 1.')),
});
/** The payload of `agent.llm.calling`. */
export interface AgentLlmCalling extends Readonly<Infer<typeof agentLlmCallingPayload>> {}

export const givenAnswer = f.object(
  { text: f.optional(f.text('The words of the answer; nothing is said without any.')) },
  'The answer in place of that of the model.',
);
/** The answer that a resolver gives in place of the model. */
export interface GivenAnswer extends Infer<typeof givenAnswer> {}

const agentLlmInputPayload = f.object({
  ...callFields,
  systemPrompt: f.optional(f.text('The system prompt, guidance included.')),
  prompt: f.text('The prompt, additions included.'),
  historyMessages: f.opaques('The transcript before the prompt, as much as the agent gets.'),
  imagesCount: f.count('How many images go with the prompt.'),
});
/** The payload of `agent.llm.input`. */
export interface AgentLlmInput extends Readonly<Infer<typeof agentLlmInputPayload>> {}

export const agentStartStages = [
  annotatedStage({
    family: 'agent.starting',
    payload: named<AgentStarting>(agentStartingPayload),
    annotations: annotated('context', 'memoryKeys', 'language', 'summary'),
    principal: true,
    purpose: 'The last annotations before an agent run.',
    emittedBy: 'turn',
    emittedWhen: 'when a run begins',
  }),
  canonicalStage({
    family: 'agent.answer.resolving',
    classes: ['resolver'],
    mode: 'sequential',
    payload: named<AgentAnswerResolving>(agentAnswerResolvingPayload),
    shared: ['messages'],
    selection: named<GivenAnswer>(givenAnswer),
    principal: true,
    purpose: 'Answers in place of the model.',
    emittedBy: 'turn',
    emittedWhen: 'once per attempt, before the model is resolved',
  }),
  canonicalStage({
    family: 'agent.model.resolving',
    classes: ['mutator'],
    mode: 'sequential',
    payload: named<AgentModelResolving>(agentModelResolvingPayload),
    patch: named<AgentModelResolvingPatch>(agentModelResolvingPatch),
    laws: { provider: 'first-defined', model: 'first-defined' },
    purpose: 'Chooses the model and its provider.',
    emittedBy: 'turn',
    emittedWhen: 'once per run, before the prompt is built',
  }),
  canonicalStage({
    family: 'agent.prompt.building',
    classes: ['augmenter', 'mutator'],
    mode: 'sequential',
    payload: named<AgentPromptBuilding>(agentPromptBuildingPayload),
    patch: named<AgentPromptBuildingPatch>(agentPromptBuildingPatch),
    laws: { systemPrompt: 'replace', guidance: 'append', additions: 'append' },
    trusted: ['systemPrompt'],
    shared: ['messages', 'config'],
    annotations: annotated('context'),
    purpose: 'Composes the prompt: lasting guidance, and additions for this turn.',
    emittedBy: 'turn',
    emittedWhen: 'once per attempt, before the provider is called',
  }),
  canonicalStage({
    family: 'agent.llm.calling',
    classes: ['veto'],
    mode: 'sequential',
    payload: named<AgentLlmCalling>(agentLlmCallingPayload),
    shared: ['messages'],
    cancelCodes: ['blocked', 'policy', 'unsafe', 'rate-limited', 'budget-exceeded'],
    cancelReplies: true,
    principal: true,
    purpose: 'Keeps the composed prompt from the model.',
    emittedBy: 'turn',
    emittedWhen: 'before each call of a model that the host knows of: at least once per attempt',
  }),
  annotatedStage({
    family: 'agent.llm.input',
    payload: named<AgentLlmInput>(agentLlmInputPayload),
    shared: ['historyMessages'],
    annotations: annotated(),
    purpose: 'Audit of what goes to the model provider.',
    emittedBy: 'turn',
    emittedWhen: 'just before the provider is called',
  }),
] as const;
