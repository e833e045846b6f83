import { type Static, Type } from 'typebox';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage } from './pieces/canonical-stage.js';
import {
  amount,
  flag,
  object,
  oneOf,
  opaque,
  optional,
  providerId,
  text,
  texts,
} from './pieces/field.js';
import { sender } from './pieces/message.js';
import { sessionFields } from './pieces/run.js';

const formField = object({
  name: text('The id of the field.'),
  value: text('What was entered.'),
});

const interactionFields = {
  ...sessionFields,
  interactionId: text('Its id at the provider.'),
  kind: oneOf(
    ['command', 'button', 'select', 'modal', 'approval', 'other'],
    'What was used: a slash command, a button, a list, a form, an approval.',
  ),
  name: text('The command, or the id of the button, list or form.'),
  values: texts('What was chosen or given with it, in order.'),
  fields: optional(
    Type.Array(formField, { description: 'What was entered in a form, field by field.' }),
  ),
  channel: text('The channel it came by.'),
  accountId: optional(text("The channel's account that got it.")),
  conversationId: optional(text('The conversation it was used in.')),
  threadId: optional(providerId('The thread it was used in.')),
  messageId: optional(text('The message that it belongs to.')),
  isGroup: optional(flag('Used in a group.')),
  sender: optional(sender),
  sentAtMs: optional(amount('When it was used, in milliseconds since 1970.')),
};

const auditing = annotated('replies');

const interactionReceivedPayload = object({
  ...interactionFields,
  raw: optional(opaque('The update exactly as the channel got it.')),
});
/** The payload of `interaction.received`. */
export interface InteractionReceived extends Readonly<Static<typeof interactionReceivedPayload>> {}

const interactionResolvedPayload = object({
  ...interactionFields,
  resolution: oneOf(
    ['command', 'message', 'approval', 'answer', 'ignored'],
    'What it became: a command, a message to an agent, an answer to an approval or to a question of an extension, nothing.',
  ),
  commandName: optional(text('The command that it became.')),
  approvalId: optional(text('The approval that it answers.')),
  questionId: optional(text('The question of an extension that it answers.')),
  explicit: optional(flag('It named that itself.')),
});
/** The payload of `interaction.resolved`. */
export interface InteractionResolved extends Readonly<Static<typeof interactionResolvedPayload>> {}

const interactionCompletedPayload = object({
  ...interactionFields,
  success: flag('What it asked for was done.'),
  result: optional(opaque('What came of it.')),
  error: optional(text('What went wrong.')),
  durationMs: optional(amount('How long it took, in milliseconds.')),
});
/** The payload of `interaction.completed`. */
export interface InteractionCompleted
  extends Readonly<Static<typeof interactionCompletedPayload>> {}

export const interactionStages = [
  annotatedStage({
    family: 'interaction.received',
    payload: named<InteractionReceived>(interactionReceivedPayload),
    shared: ['raw'],
    annotations: auditing,
    purpose: 'Audit of a command, press or form before anything is done about it.',
    emittedBy: 'interactive-channel',
    emittedWhen: "before anything is done about a command, press or form of a channel's surface",
  }),
  annotatedStage({
    family: 'interaction.resolved',
    payload: named<InteractionResolved>(interactionResolvedPayload),
    annotations: auditing,
    purpose: 'Tells what an interaction was taken for.',
    emittedBy: 'interactive-channel',
    emittedWhen: 'when it is known what an interaction was taken for',
  }),
  annotatedStage({
    family: 'interaction.completed',
    payload: named<InteractionCompleted>(interactionCompletedPayload),
    shared: ['result'],
    annotations: auditing,
    purpose: 'Audit of an interaction after it was dealt with.',
    emittedBy: 'interactive-channel',
    emittedWhen: 'after an interaction was dealt with',
  }),
] as const;
