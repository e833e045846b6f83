import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { sender } from './pieces/message.js';
import { sessionFields } from './pieces/run.js';

const formField = f.object({
  name: f.text('The id of the field.'),
  value: f.text('What was entered.'),
});

const interactionFields = {
  ...sessionFields,
  interactionId: f.text('Its id at the provider.'),
  kind: f.oneOf(
    ['command', 'button', 'select', 'modal', 'approval', 'other'],
    'What was used: a slash command, a button, a list, a form, an approval.',
  ),
  name: f.text('The command, or the id of the button, list or form.'),
  values: f.texts('What was chosen or given with it, in order.'),
  fields: f.optional(f.list(formField, 'What was entered in a form, field by field.')),
  channel: f.text('The channel it came by.'),
  accountId: f.optional(f.text("The channel's account that got it.")),
  conversationId: f.optional(f.text('The conversation it was used in.')),
  threadId: f.optional(f.providerId('The thread it was used in.')),
  messageId: f.optional(f.text('The message that it belongs to.')),
  isGroup: f.optional(f.flag('Used in a group.')),
  sender: f.optional(sender),
  sentAtMs: f.optional(f.amount('When it was used, in milliseconds since 1970.')),
};

const auditing = annotated('replies');

const interactionReceivedPayload = f.object({
  ...interactionFields,
  raw: f.optional(f.opaque('The update exactly as the channel got it.')),
});
/** The payload of `interaction.received`. */
export interface InteractionReceived extends Readonly<Infer<typeof interactionReceivedPayload>> {}

const interactionResolvedPayload = f.object({
  ...interactionFields,
  resolution: f.oneOf(
    ['command', 'message', 'approval', 'answer', 'ignored'],
    'What it became: a command, a message to an agent, an answer to an approval or to a question of an extension, nothing.',
  ),
  commandName: f.optional(f.text('The command that it became.')),
  approvalId: f.optional(f.text('The approval that it answers.')),
  questionId: f.optional(f.text('The question of an extension that it answers.')),
  explicit: f.optional(f.flag('It named that itself.')),
});
/** The payload of `interaction.resolved`. */
export interface InteractionResolved extends Readonly<Infer<typeof interactionResolvedPayload>> {}

const interactionCompletedPayload = f.object({
  ...interactionFields,
  success: f.flag('What it asked for was done.'),
  result: f.optional(f.opaque('What came of it.')),
  error: f.optional(f.text('What went wrong.')),
  durationMs: f.optional(f.amount('How long it took, in milliseconds.')),
});
/** The payload of `interaction.completed`. */
export interface InteractionCompleted extends Readonly<Infer<typeof interactionCompletedPayload>> {}

export const interactionStages = [
  annotatedStage({
    family: 'interaction.received',
    payload: named<InteractionReceived>(interactionReceivedPayload),
    shared: ['raw'],
    annotations: auditing,
    purpose: 'Audit of a command, press or form before it counts.',
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
