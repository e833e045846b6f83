import {
  type AnnotationsOf,
  definedFields,
  type Outcome,
  type PayloadOf,
} from 'sluice-kernel/internal';
import { same } from '../facts/field-table.js';
import { modifyingHook, waysOf } from './make-row.js';
import { type Answer, type AtCall, type Ending, extrasOf, isGiven } from './row.js';
import { agentContext } from './run-context.js';
import type { LegacyAgentContext, LegacyModelResult, LegacyPromptResult } from './shapes.js';

type Pieces = PayloadOf<'agent.prompt.building'>['guidance'];

const modelFields = { modelOverride: 'model', providerOverride: 'provider' } as const;
/** The fields of an answer by which a plugin writes to the prompt. */
export const promptFields =
  'systemPrompt prependContext prependSystemContext appendSystemContext'.split(' ');

const readModel = ({ value }: Answer) => {
  const patch: Record<string, unknown> = {};
  for (const [legacy, field] of Object.entries(modelFields))
    if (isGiven(value[legacy])) patch[field] = value[legacy];
  return Object.keys(patch).length === 0 ? undefined : patch;
};

export const piece = (text: unknown, position: 'before' | 'after') =>
  isGiven(text) ? [{ text, position }] : [];

export const readPieces = ({ value }: Answer) => {
  const additions = piece(value.prependContext, 'before');
  const guidance = [
    ...piece(value.prependSystemContext, 'before'),
    ...piece(value.appendSystemContext, 'after'),
  ];
  if (additions.length + guidance.length === 0) return undefined;
  return { ...(additions.length > 0 && { additions }), ...(guidance.length > 0 && { guidance }) };
};

const readSystemPrompt = ({ value }: Answer) =>
  isGiven(value.systemPrompt) ? { systemPrompt: value.systemPrompt } : undefined;

/** As the legacy caller composes it: where a hook before this one has set a system prompt, that stands. */
export const readSystemPromptIfUnset = (answer: Answer, { emitted, begun }: AtCall) =>
  systemPromptOf(emitted) === systemPromptOf(begun) ? readSystemPrompt(answer) : undefined;

const systemPromptOf = (payload: unknown) =>
  (payload as PayloadOf<'agent.prompt.building'>).systemPrompt; // the part's family says so

const modelPart = {
  family: 'agent.model.resolving',
  class: 'mutator',
  read: readModel,
} as const;

/** The system prompt by itself: a plugin that is not trusted keeps its other additions. */
const promptParts = [
  { family: 'agent.prompt.building', class: 'mutator', read: readPieces },
  { family: 'agent.prompt.building', class: 'mutator', read: readSystemPrompt },
] as const;

const agentStartParts = [
  modelPart,
  promptParts[0],
  { ...promptParts[1], read: readSystemPromptIfUnset },
] as const;

const modelShape = { event: same('prompt'), context: agentContext };

/** The columns of `before_model_resolve` that are the same in each profile. */
export const modelColumns = {
  parts: [modelPart],
  why: 'The stage of the same moment: once per run, before the model is looked up.',
  merge: 'first defined, by field',
  instead: '{ modelOverride, providerOverride }',
  ...modelShape,
};

export const promptShape = {
  event: same('prompt', 'messages'),
  context: agentContext,
  adds: () => ({ messages: [], guidance: [], additions: [] }),
};

type AgentStart = { prompt: string; messages?: unknown[] };

const modelWays = waysOf('agent.model.resolving')<AgentStart, LegacyAgentContext>({
  ...modelShape,
  event: { ...modelShape.event, messages: { show: () => undefined } },
});
const promptWays = waysOf('agent.prompt.building')<AgentStart, LegacyAgentContext>(promptShape);

export function modelResult(outcome: Outcome): Record<string, unknown> {
  const { model, provider } = outcome.payload as PayloadOf<'agent.model.resolving'>;
  return definedFields({ modelOverride: model, providerOverride: provider });
}

/**
 * The prompt's pieces as legacy fields. The legacy caller knows no place after the prompt: what canonical handlers put
 * there stands before it. So do the pieces of context that augmenters leave. It has files of its own: those that
 * canonical handlers added stand after the system prompt.
 *
 * @param splits the caller knows a place after the prompt.
 */
export function promptResult(outcome: Outcome, splits = false): Record<string, unknown> {
  const { systemPrompt, guidance, additions, bootstrapFiles } =
    outcome.payload as PayloadOf<'agent.prompt.building'>;
  const notes = outcome.annotations as Partial<AnnotationsOf<'agent.prompt.building'>>;
  const appended = splits ? additions.filter(isAfter) : [];
  const prepended = additions.filter((one) => !appended.includes(one));
  const fields = {
    systemPrompt,
    prependContext: joined([...prepended.map(textOf), ...(notes.context ?? [])]),
    appendContext: joined(appended.map(textOf)),
    prependSystemContext: joined(guidance.filter(isBefore).map(textOf)),
    appendSystemContext: joined([
      ...filesOf(bootstrapFiles),
      ...guidance.filter((one) => !isBefore(one)).map(textOf),
    ]),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const textOf = (one: Pieces[number]): string => (typeof one === 'string' ? one : one.text);

const filesOf = (files: PayloadOf<'agent.prompt.building'>['bootstrapFiles'] = []): string[] =>
  files
    .filter(({ missing, content }) => missing !== true && content !== undefined)
    .map(({ name, content }) => `## ${name}\n\n${content}`);

const isAfter = (one: Pieces[number]): boolean =>
  typeof one !== 'string' && one.position === 'after';

/** A piece of guidance without a position stands after the system prompt. */
const isBefore = (one: Pieces[number]): boolean =>
  typeof one !== 'string' && one.position === 'before';

/** The pieces with a blank line between those that say something; `undefined` where there is none. */
function joined(texts: readonly string[]): string | undefined {
  if (texts.length === 0) return undefined;
  return texts.filter((text) => text !== '').join('\n\n');
}

/** An answer where a handler gave one, or where the pipeline has one to give. */
function answered({ answers }: Ending, known: readonly string[], fields: Record<string, unknown>) {
  if (answers.length === 0 && Object.keys(fields).length === 0) return undefined;
  return { ...extrasOf(answers, known), ...fields };
}

const known = Object.keys(modelFields);

/** The hooks that choose the model and compose the prompt. */
export const promptHooks = {
  before_model_resolve: modifyingHook('agent.model.resolving')<
    { prompt: string },
    LegacyAgentContext,
    LegacyModelResult
  >({
    ...modelColumns,
    result: (ending) => answered(ending, known, modelResult(ending.outcomes[0])),
  }),
  before_prompt_build: modifyingHook('agent.prompt.building')<
    { prompt: string; messages: unknown[] },
    LegacyAgentContext,
    LegacyPromptResult
  >({
    parts: promptParts,
    why: 'Its texts become guidance (system side) and additions (user side). A system prompt of its own needs the grant of a trusted plugin.',
    merge: 'systemPrompt: the last; the others joined by a blank line, in order',
    instead: '{ systemPrompt, prependContext, prependSystemContext, appendSystemContext }',
    ...promptShape,
    result: (ending) => answered(ending, promptFields, promptResult(ending.outcomes[0])),
  }),
  before_agent_start: modifyingHook('agent.model.resolving')<
    AgentStart,
    LegacyAgentContext,
    LegacyModelResult & LegacyPromptResult
  >({
    parts: agentStartParts,
    band: 'last',
    oncePerRun: true,
    why: 'One handler for two stages, after all others of both. What it answers in the model stage stands for the prompt stage; only if nobody answered there is it called again, with the messages.',
    merge: 'as before_model_resolve and before_prompt_build together',
    instead: '{ modelOverride, providerOverride, systemPrompt, prependContext, ... }',
    announce: (...call) => [...modelWays.announce(...call), ...promptWays.announce(...call)],
    view: (envelope) =>
      (envelope.family === 'agent.model.resolving' ? modelWays : promptWays).view(envelope),
    result: (ending) =>
      answered(ending, [...known, ...promptFields], {
        ...promptResult(ending.outcomes[1] ?? ending.outcomes[0]),
        ...modelResult(ending.outcomes[0]),
      }),
  }),
};
