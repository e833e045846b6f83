import type { Static } from 'typebox';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, canonicalStage, watchedStage } from './pieces/canonical-stage.js';
import {
  amount,
  count,
  flag,
  object,
  opaques,
  openRecord,
  optional,
  text,
  texts,
} from './pieces/field.js';
import { inboundMessage } from './pieces/message.js';
import { runFields, sessionFields } from './pieces/run.js';

const knownSessionFields = {
  ...sessionFields,
  sessionId: text('The session by its id; a reset makes a new one.'),
  resumedFrom: optional(text('The session that this one goes on from.')),
};

const preparedFields = {
  ...knownSessionFields,
  isNew: flag('It has no history yet.'),
  context: openRecord('What is bound to the session for its handlers and its agent.'),
  memoryKeys: texts('Keys under which memory is to be looked up.'),
  metadata: openRecord("What is kept in the session's record."),
};

const sessionStartingPayload = object({ ...preparedFields, message: optional(inboundMessage) });
/** The payload of `session.starting`. */
export interface SessionStarting extends Readonly<Static<typeof sessionStartingPayload>> {}

const sessionStartingPatch = object({
  context: optional(openRecord('Keys to bind; the others stay.')),
  memoryKeys: optional(texts('Further keys.')),
  metadata: optional(openRecord('Keys to set; the others stay.')),
});
/** The patch that a mutator of `session.starting` may return. */
export interface SessionStartingPatch extends Static<typeof sessionStartingPatch> {}

const sessionStartedPayload = object(preparedFields);
/** The payload of `session.started`. */
export interface SessionStarted extends Readonly<Static<typeof sessionStartedPayload>> {}

const sessionResettingPayload = object({
  ...runFields,
  reason: optional(text('Why: the command, or a rule of the host.')),
  surface: optional(text('The surface that asked for it, by its own name.')),
  senderId: optional(text('Who asked for it.')),
  sessionFile: optional(text('The file that holds the transcript so far.')),
  messages: optional(
    opaques('The transcript so far, oldest first; read where a handler is there to see it.'),
  ),
  sessionEntry: optional(openRecord("The session's record in its store.")),
  previousSessionEntry: optional(openRecord('That record as it was before.')),
  config: optional(openRecord("The host's configuration, as its source hands it over.")),
});
/** The payload of `session.resetting`. */
export interface SessionResetting extends Readonly<Static<typeof sessionResettingPayload>> {}

const sessionEndedPayload = object({
  ...knownSessionFields,
  messageCount: count('How many messages its transcript held.'),
  durationMs: optional(amount('How long it lasted, in milliseconds.')),
  reason: optional(text('Why it ended.')),
  nextSessionId: optional(text('The session that follows it under the same key.')),
});
/** The payload of `session.ended`. */
export interface SessionEnded extends Readonly<Static<typeof sessionEndedPayload>> {}

export const sessionStages = [
  canonicalStage({
    family: 'session.starting',
    classes: ['observer', 'augmenter', 'mutator'],
    mode: 'sequential',
    payload: named<SessionStarting>(sessionStartingPayload),
    patch: named<SessionStartingPatch>(sessionStartingPatch),
    laws: { context: 'merge-keys', memoryKeys: 'append', metadata: 'merge-keys' },
    annotations: annotated('context', 'memoryKeys', 'language', 'summary'),
    purpose: 'Binds context to a session, attaches memory keys and prepares its metadata.',
    emittedWhen: 'when a routed message reaches the lane of its session',
  }),
  watchedStage({
    family: 'session.started',
    payload: named<SessionStarted>(sessionStartedPayload),
    purpose: 'Tells that a session is ready for a turn.',
    emittedWhen: 'when session.starting has passed',
  }),
  annotatedStage({
    family: 'session.resetting',
    payload: named<SessionResetting>(sessionResettingPayload),
    shared: ['messages', 'sessionEntry', 'previousSessionEntry', 'config'],
    annotations: annotated('memoryKeys', 'replies'),
    purpose: 'Saves what is worth keeping of a transcript before a session begins anew.',
    emittedWhen: 'when a session is to begin anew, before its transcript is let go',
  }),
  watchedStage({
    family: 'session.ended',
    payload: named<SessionEnded>(sessionEndedPayload),
    timeoutMs: 2_000,
    stageTimeoutMs: 2_000,
    purpose: 'Tells that a session is over and nothing more is added to it.',
    emittedWhen: 'when a reset has closed the old session',
  }),
] as const;
