import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { sessionFields } from './pieces/run.js';

const commandFields = {
  ...sessionFields,
  name: f.text('The command, without a leading slash.'),
  args: f.texts('Its arguments.'),
  text: f.optional(f.text('The whole line, as it was given.')),
  source: f.oneOf(
    ['chat', 'native', 'cli', 'rpc'],
    "Where it came from: a chat line, a channel's own command, the command line, a client's call.",
  ),
  surface: f.optional(f.text('The surface it was given on, by its own name.')),
  channel: f.optional(f.text('The channel it came by.')),
  accountId: f.optional(f.text("The channel's account that got it.")),
  conversationId: f.optional(f.text('The conversation it was given in.')),
  threadId: f.optional(f.providerId('The thread it was given in.')),
  messageId: f.optional(f.text('The message it was in.')),
  senderId: f.optional(f.text('Who gave it.')),
  isAuthorized: f.optional(f.flag('Its sender may give it.')),
  targetSessionKey: f.optional(f.text('The session it is about, where that is another.')),
  workspaceDir: f.optional(f.text('The directory the agent works in.')),
};

const commandReceivedPayload = f.object({
  ...commandFields,
  sessionEntry: f.optional(f.openRecord("The session's record in its store.")),
  previousSessionEntry: f.optional(f.openRecord('That record as it was before.')),
  config: f.optional(f.openRecord("The host's configuration, as its source hands it over.")),
});
/** The payload of `command.received`. */
export interface CommandReceived extends Readonly<Infer<typeof commandReceivedPayload>> {}

const commandCompletedPayload = f.object({
  ...commandFields,
  success: f.flag('It did what it was asked.'),
  result: f.optional(f.opaque('What it answered.')),
  error: f.optional(f.text('What went wrong.')),
  exitCode: f.optional(f.integer('The exit code, on the command line.')),
  durationMs: f.optional(f.amount('How long it took, in milliseconds.')),
});
/** The payload of `command.completed`. */
export interface CommandCompleted extends Readonly<Infer<typeof commandCompletedPayload>> {}

export const commandStages = [
  annotatedStage({
    family: 'command.received',
    payload: named<CommandReceived>(commandReceivedPayload),
    shared: ['sessionEntry', 'previousSessionEntry', 'config'],
    annotations: annotated('replies'),
    principal: true,
    purpose: 'Audit of a command before it runs.',
    emittedWhen: 'before a chat, native or command-line command runs',
  }),
  annotatedStage({
    family: 'command.completed',
    payload: named<CommandCompleted>(commandCompletedPayload),
    shared: ['result'],
    annotations: annotated('replies'),
    purpose: 'Audit of a command after it ran.',
    emittedWhen: 'after a command has run or failed',
  }),
] as const;
