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

const commandReceivedPayload = Type.Object(
  {
    ...commandFields,
    sessionEntry: optional(openRecord("The session's record in its store.")),
    previousSessionEntry: optional(openRecord('That record as it was before.')),
    config: optional(openRecord("The host's configuration, as its source hands it over.")),
  },
  closed,
);
/** The payload of `command.received`. */
export interface CommandReceived extends Static<typeof commandReceivedPayload> {}

const commandCompletedPayload = Type.Object(
  {
    ...commandFields,
    success: flag('It did what it was asked.'),
    result: optional(opaque('What it answered.')),
    error: optional(text('What went wrong.')),
    exitCode: optional(Type.Integer({ description: 'The exit code, on the command line.' })),
    durationMs: optional(amount('How long it took, in milliseconds.')),
  },
  closed,
);
/** The payload of `command.completed`. */
export interface CommandCompleted extends Static<typeof commandCompletedPayload> {}

export const commandStages = [
  defineStage({
    family: 'command.received',
    classes: ['observer', 'augmenter'],
    mode: 'sequential',
    payload: named<CommandReceived>(commandReceivedPayload),
    shared: ['sessionEntry', 'previousSessionEntry', 'config'],
    annotations: Type.Pick(annotations, ['notes', 'labels', 'replies'], closed),
    purpose: 'Audit of a command before it runs, whichever surface it came from.',
    emitter: 'host',
    emittedBy: 'host',
    emittedWhen: 'before a chat, native or command-line command runs',
  }),
  defineStage({
    family: 'command.completed',
    classes: ['observer', 'augmenter'],
    mode: 'sequential',
    payload: named<CommandCompleted>(commandCompletedPayload),
    shared: ['result'],
    annotations: Type.Pick(annotations, ['notes', 'labels', 'replies'], closed),
    purpose: 'Audit of a command after it ran, and what operators are to see of it.',
    emitter: 'host',
    emittedBy: 'host',
    emittedWhen: 'after a command has run or failed',
  }),
] as const;
