import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, canonicalStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { runFields } from './pieces/run.js';

const toolFields = {
  ...runFields,
  toolName: f.text('The tool, by the name it is registered under.'),
  toolCallId: f.optional(f.text('This call of it.')),
};

const agentToolCallingPayload = f.object({
  ...toolFields,
  params: f.openRecord('What the tool is called with.'),
});
/** The payload of `agent.tool.calling`. */
export interface AgentToolCalling extends Readonly<Infer<typeof agentToolCallingPayload>> {}

const agentToolCallingPatch = f.object({
  params: f.optional(f.openRecord('Parameters to set; the others stay.')),
});
/** The patch that a mutator of `agent.tool.calling` may return. */
export interface AgentToolCallingPatch extends Infer<typeof agentToolCallingPatch> {}

const toolResult = f.object(
  {
    content: f.list(
      f.either([
        f.object({
          type: f.oneOf(['text'], 'The kind of block.'),
          text: f.text('A text for the model.'),
        }),
        f.object({
          type: f.oneOf(['image'], 'The kind of block.'),
          data: f.text('A picture, in base64.'),
          mimeType: f.text('Its media type.'),
        }),
      ]),
      'What the model is given.',
    ),
    structured: f.optional(f.opaque('The same as plain data, in the shape of the tool.')),
    isError: f.flag('The tool failed, or did not run. A patch cannot make a success of a failure.'),
  },
  'What the tool answered.',
);

const agentToolReturningPayload = f.object({
  ...toolFields,
  params: f.openRecord('What the tool was called with, after every patch.'),
  result: toolResult,
});
/** The payload of `agent.tool.returning`. */
export interface AgentToolReturning extends Readonly<Infer<typeof agentToolReturningPayload>> {}

const agentToolReturningPatch = f.object({ result: f.optional(toolResult) });
/** The patch that a mutator of `agent.tool.returning` may return: the whole result. */
export interface AgentToolReturningPatch extends Infer<typeof agentToolReturningPatch> {}

const agentToolCalledPayload = f.object({
  ...toolFields,
  params: f.openRecord('What the tool was called with, after every patch.'),
  result: f.optional(f.opaque('What the tool answered.')),
  meta: f.optional(f.text('A short description of the call, for people.')),
  isError: f.optional(f.flag('The tool failed.')),
  error: f.optional(f.text('What went wrong.')),
  durationMs: f.optional(f.amount('How long it took, in milliseconds.')),
});
/** The payload of `agent.tool.called`. */
export interface AgentToolCalled extends Readonly<Infer<typeof agentToolCalledPayload>> {}

export const toolStages = [
  canonicalStage({
    family: 'agent.tool.calling',
    classes: ['observer', 'augmenter', 'mutator', 'veto'],
    mode: 'sequential',
    payload: named<AgentToolCalling>(agentToolCallingPayload),
    patch: named<AgentToolCallingPatch>(agentToolCallingPatch),
    laws: { params: 'merge-keys' },
    annotations: annotated(),
    cancelCodes: ['blocked', 'policy', 'loop-detected'],
    principal: true,
    asks: true,
    purpose: 'Judges a tool call before it runs.',
    emittedBy: 'turn',
    emittedWhen: 'when the agent asks for a tool',
  }),
  canonicalStage({
    family: 'agent.tool.returning',
    classes: ['observer', 'augmenter', 'mutator', 'veto'],
    mode: 'sequential',
    payload: named<AgentToolReturning>(agentToolReturningPayload),
    patch: named<AgentToolReturningPatch>(agentToolReturningPatch),
    annotations: annotated(),
    cancelCodes: ['blocked', 'policy', 'unsafe'],
    principal: true,
    purpose: 'Judges what a tool has answered, before anybody reads it.',
    emittedBy: 'turn',
    emittedWhen: 'when a tool has answered or failed, before the model gets the result',
  }),
  annotatedStage({
    family: 'agent.tool.called',
    payload: named<AgentToolCalled>(agentToolCalledPayload),
    shared: ['result'],
    annotations: annotated('memoryKeys', 'indexKeys'),
    principal: true,
    purpose: 'Indexes and remembers what a tool answered.',
    emittedBy: 'turn',
    emittedWhen: 'when a tool has answered, failed or been cancelled',
  }),
] as const;
