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
  openRecord,
  optional,
  providerId,
  text,
  texts,
} from './pieces/field.js';
import { sessionFields } from './pieces/run.js';

const commandFields = {
  ...sessionFields,
  name: text('The command, without a leading slash.'),
  args: texts('Its arguments.'),
  text: optional(text('The whole line, as it was given.')),
  source: oneOf(
    ['chat', 'native', 'cli', 'rpc'],
    "Where it came from: a chat line, a channel's own command, the command line, a client's call.",
  ),
  surface: optional(text('The surface it was given on, by its own name.')),
  channel: optional(text('The channel it came by.')),
  accountId: optional(text("The channel's account that got it.")),
  conversationId: optional(text('The conversation it was given in.')),
  threadId: optional(providerId('The thread it was given in.')),
  messageId: optional(text('The message it was in.')),
  senderId: optional(text('Who gave it.')),
  isAuthorized: optional(flag('Its sender may give it.')),
  targetSessionKey: optional(text('The session it is about, where that is another.')),
  workspaceDir: optional(text('The directory the agent works in.')),
};

const commandReceivedPayload = object({
  ...commandFields,
  sessionEntry: optional(openRecord("The session's record in its store.")),
  previousSessionEntry: optional(openRecord('That record as it was before.')),
  config: optional(openRecord("The host's configuration, as its source hands it over.")),
});
/** The payload of `command.received`. */
export interface CommandReceived extends Readonly<Static<typeof commandReceivedPayload>> {}

const commandCompletedPayload = object({
  ...commandFields,
  success: flag('It did what it was asked.'),
  result: optional(opaque('What it answered.')),
  error: optional(text('What went wrong.')),
  exitCode: optional(Type.Integer({ description: 'The exit code, on the command line.' })),
  durationMs: optional(amount('How long it took, in milliseconds.')),
});
/** The payload of `command.completed`. */
export interface CommandCompleted extends Readonly<Static<typeof commandCompletedPayload>> {}

export const commandStages = [
  annotatedStage({
    family: 'command.received',
    payload: named<CommandReceived>(commandReceivedPayload),
    shared: ['sessionEntry', 'previousSessionEntry', 'config'],
    annotations: annotated('replies'),
    principal: true,
    purpose: 'Audit of a command before it runs, whichever surface it came from.',
    emittedWhen: 'before a chat, native or command-line command runs',
  }),
  annotatedStage({
    family: 'command.completed',
    payload: named<CommandCompleted>(commandCompletedPayload),
    shared: ['result'],
    annotations: annotated('replies'),
    purpose: 'Audit of a command after it ran, and what operators are to see of it.',
    emittedWhen: 'after a command has run or failed',
  }),
] as const;
