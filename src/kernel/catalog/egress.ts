import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, briefly, canonicalStage, watchedStage } from './pieces/canonical-stage.js';
import { type Delivery, delivery, receipt } from './pieces/delivery.js';
import * as f from './pieces/field.js';
import { attachments } from './pieces/message.js';
import { channelAccount } from './pieces/place.js';
import { runFields } from './pieces/run.js';

const button = f.object({
  id: f.text('The `name` of the interaction that a press makes.'),
  label: f.text('The text on it.'),
});

const choice = f.object({
  value: f.text('The value of the interaction that choosing it makes.'),
  label: f.text('The text that people see.'),
});

const list = f.object(
  {
    name: f.text('The `name` of the interaction that a choice makes.'),
    label: f.optional(f.text('The text above it.')),
    choices: f.fullList(choice, 'The choices, in order: one is made.'),
  },
  'A list to choose one from.',
);

const formField = f.object({
  name: f.text('The name of the field in the interaction that the form makes.'),
  label: f.text('The text beside it.'),
  isOptional: f.optional(f.flag('It may be left empty.')),
});

const form = f.object(
  {
    name: f.text('The `name` of the interaction that sending the form makes.'),
    label: f.optional(f.text('The text above it.')),
    fields: f.fullList(formField, 'The fields, in order.'),
  },
  'A form to fill in.',
);

/** The buttons, the list and the form of a message (spec §14.16), as a field. */
const interactive = (description: string) =>
  f.object(
    {
      buttons: f.optional(f.fullList(button, 'The buttons, in order.')),
      list: f.optional(list),
      form: f.optional(form),
    },
    description,
  );

const format = (description: string) => f.oneOf(['plain', 'markdown', 'html'], description);

const outboundFields = {
  ...runFields,
  channel: f.optional(f.text('The channel to send by.')),
  accountId: f.optional(f.text("The channel's account to send as.")),
  to: f.text('The address to send to, as the channel writes it.'),
  conversationId: f.optional(f.text('The conversation that it belongs to.')),
  threadId: f.optional(f.providerId('The thread within the conversation.')),
  replyToId: f.optional(f.text('The message that it answers.')),
  isGroup: f.optional(f.flag('It goes to a group.')),
  groupId: f.optional(f.text('The group.')),
  kind: f.oneOf(
    [
      'reply',
      'block',
      'stream-opening',
      'stream-final',
      'reasoning',
      'tool-output',
      'notice',
      'error',
      'unprompted',
      'cancel-reply',
      'approval',
    ],
    "What it is: an answer, a part of one, a stream's begin or end, a message of its own, a veto's word to the sender, or its question to a human.",
  ),
  streaming: f.flag('Parts of it will be shown before it is whole.'),
  openedBy: f.optional(
    f.text('The id of the `egress.preparing` event that opened the stream that this ends.'),
  ),
  content: f.text('The text.'),
  format: f.optional(format('How the text is marked up.')),
  attachments: attachments('The files that go with it.'),
  interactive: f.optional(interactive('The buttons, the list and the form under it.')),
  silent: f.optional(f.flag('Arrive without a sound.')),
  metadata: f.openRecord('What its source and its handlers say beyond these fields.'),
};

const egressPreparingPayload = f.object({
  ...outboundFields,
  explicit: f.flag('Channel and account were named by the sender: they are not to be chosen.'),
  accounts: f.list(channelAccount, 'The accounts that the host offers.'),
});
/** The payload of `egress.preparing`. */
export interface EgressPreparing extends Readonly<Infer<typeof egressPreparingPayload>> {}

const egressPreparingPatch = f.object({
  content: f.optional(f.text('The text anew.')),
  format: f.optional(format('How the new text is marked up.')),
  attachments: f.optional(attachments('All files that are to go with it.')),
  interactive: f.optional(
    interactive('All that is to stand under it; an empty object takes away what does.'),
  ),
  silent: f.optional(f.flag('Arrive without a sound.')),
  metadata: f.optional(f.openRecord('Keys to set; the others stay.')),
});
/** The patch that a mutator of `egress.preparing` may return. */
export interface EgressPreparingPatch extends Infer<typeof egressPreparingPatch> {}

const approvedFields = {
  ...outboundFields,
  channel: f.text('The channel that it is sent by.'),
  attempt: f.optional(f.count('Which attempt this is, from 1.')),
};

const egressSendingPayload = f.object(approvedFields);
/** The payload of `egress.sending`. */
export interface EgressSending extends Readonly<Infer<typeof egressSendingPayload>> {}

const indexing = annotated('indexKeys');

const egressSentPayload = f.object({
  ...approvedFields,
  receipt,
  durationMs: f.optional(f.amount('How long the send took, in milliseconds.')),
});
/** The payload of `egress.sent`. */
export interface EgressSent extends Readonly<Infer<typeof egressSentPayload>> {}

const cancel = f.object(
  {
    extensionId: f.optional(f.text('The extension that cancelled it.')),
    contributionId: f.optional(f.text('The contribution within that extension.')),
    code: f.text('The code that it was cancelled with.'),
    text: f.optional(f.text('Why, for people.')),
    details: f.optional(f.openRecord('What the veto says beyond that.')),
    reply: f.optional(f.text('The text that the veto has for the sender of the message.')),
  },
  'The cancel, as the outcome of egress.preparing holds it.',
);

const egressCancelledPayload = f.object({ ...outboundFields, cancel });
/** The payload of `egress.cancelled`. */
export interface EgressCancelled extends Readonly<Infer<typeof egressCancelledPayload>> {}

const egressFailedPayload = f.object({
  ...outboundFields,
  error: f.text('What went wrong.'),
  cause: f.optional(
    f.oneOf(
      ['stage-failed', 'rejected', 'retry-after', 'ambiguous', 'threw', 'aborted', 'agent-failed'],
      'Where it failed: before the send, in the agent that made it, or what the channel answered.',
    ),
  ),
  retryAfterMs: f.optional(f.amount('How long the provider asks to wait, in milliseconds.')),
  attempts: f.optional(f.count('How many attempts were made.')),
  receipt: f.optional(receipt),
  durationMs: f.optional(f.amount('How long the send took, in milliseconds.')),
});
/** The payload of `egress.failed`. */
export interface EgressFailed extends Readonly<Infer<typeof egressFailedPayload>> {}

export const egressStages = [
  canonicalStage({
    family: 'egress.preparing',
    classes: ['observer', 'augmenter', 'mutator', 'veto', 'resolver'],
    mode: 'sequential',
    payload: named<EgressPreparing>(egressPreparingPayload),
    patch: named<EgressPreparingPatch>(egressPreparingPatch),
    laws: { metadata: 'merge-keys' },
    annotations: annotated('language', 'summary'),
    selection: named<Delivery>(delivery),
    settled: (payload) => payload.explicit,
    cancelCodes: [
      'owned-elsewhere',
      'policy',
      'unsafe',
      'duplicate',
      'quiet-hours',
      'rate-limited',
    ],
    cancelReplies: true,
    asks: true,
    isQuestion: (payload) => payload.kind === 'approval',
    onError: { resolver: 'closed', veto: 'open' },
    principal: true,
    purpose: 'Changes a message, chooses its account, or keeps it back.',
    emittedWhen: 'before every send; its outcome alone mints the permit',
  }),
  watchedStage({
    family: 'egress.sending',
    payload: named<EgressSending>(egressSendingPayload),
    ...briefly,
    purpose: 'Audit of a message before it is sent.',
    emittedWhen: 'when a permit is handed to a channel',
  }),
  annotatedStage({
    family: 'egress.sent',
    payload: named<EgressSent>(egressSentPayload),
    annotations: indexing,
    purpose: 'Indexing of a message that was delivered.',
    emittedWhen: 'when a channel has sent',
  }),
  annotatedStage({
    family: 'egress.cancelled',
    payload: named<EgressCancelled>(egressCancelledPayload),
    annotations: indexing,
    purpose: 'Indexing of a message that a veto kept back.',
    emittedWhen: 'when egress.preparing ends with a cancel',
  }),
  annotatedStage({
    family: 'egress.failed',
    payload: named<EgressFailed>(egressFailedPayload),
    annotations: indexing,
    purpose: 'Indexing of a message that could not be delivered.',
    emittedWhen: 'when a send fails for good, or egress.preparing fails',
  }),
] as const;
