import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, canonicalStage, watchedStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { inboundMessage } from './pieces/message.js';
import { runFields, sessionFields } from './pieces/run.js';

const knownSessionFields = {
  ...sessionFields,
  sessionId: f.text('The session by its id; a reset makes a new one.'),
  resumedFrom: f.optional(f.text('The session that this one goes on from.')),
};

const preparedFields = {
  ...knownSessionFields,
  isNew: f.flag('It has no history yet.'),
  context: f.openRecord('What is bound to the session for its handlers and its agent.'),
  memoryKeys: f.texts('Keys under which memory is to be looked up.'),
  metadata: f.openRecord("What is kept in the session's record."),
};

const sessionStartingPayload = f.object({ ...preparedFields, message: f.optional(inboundMessage) });
/** The payload of `session.starting`. */
export interface SessionStarting extends Readonly<Infer<typeof sessionStartingPayload>> {}

const sessionStartingPatch = f.object({
  context: f.optional(f.openRecord('Keys to bind; the others stay.')),
  memoryKeys: f.optional(f.texts('Further keys.')),
  metadata: f.optional(f.openRecord('Keys to set; the others stay.')),
});
/** The patch that a mutator of `session.starting` may return. */
export interface SessionStartingPatch extends Infer<typeof sessionStartingPatch> {}

const sessionStartedPayload = f.object(preparedFields);
/** The payload of `session.started`. */
export interface SessionStarted extends Readonly<Infer<typeof sessionStartedPayload>> {}

const sessionResettingPayload = f.object({
  ...runFields,
  reason: f.optional(f.text('Why: the command, or a rule of the host.')),
  surface: f.optional(f.text('The surface that asked for it, by its own name.')),
  senderId: f.optional(f.text('Who asked for it.')),
  sessionFile: f.optional(f.text('The file that holds the transcript so far.')),
  messages: f.optional(
    f.opaques('The transcript so far, oldest first; read where a handler is there to see it.'),
  ),
  sessionEntry: f.optional(f.openRecord("The session's record in its store.")),
  previousSessionEntry: f.optional(f.openRecord('That record as it was before.')),
  config: f.optional(f.openRecord("The host's configuration, as its source hands it over.")),
});
/** The payload of `session.resetting`. */
export interface SessionResetting extends Readonly<Infer<typeof sessionResettingPayload>> {}

const sessionEndedPayload = f.object({
  ...knownSessionFields,
  messageCount: f.count('How many messages its transcript held.'),
  durationMs: f.optional(f.amount('How long it lasted, in milliseconds.')),
  reason: f.optional(f.text('Why it ended.')),
  nextSessionId: f.optional(f.text('The session that follows it under the same key.')),
});
/** The payload of `session.ended`. */
export interface SessionEnded extends Readonly<Infer<typeof sessionEndedPayload>> {}

export const sessionStages = [
  canonicalStage({
    family: 'session.starting',
    classes: ['observer', 'augmenter', 'mutator'],
    mode: 'sequential',
    payload: named<SessionStarting>(sessionStartingPayload),
    patch: named<SessionStartingPatch>(sessionStartingPatch),
    laws: { context: 'merge-keys', memoryKeys: 'append', metadata: 'merge-keys' },
    annotations: annotated('context', 'memoryKeys', 'language', 'summary'),
    purpose: 'Prepares a session: its context, memory keys and metadata.',
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
    purpose: 'Saves what is worth keeping before a session begins anew.',
    emittedWhen: 'when a session is to begin anew, before its transcript is let go',
  }),
  watchedStage({
    family: 'session.ended',
    payload: named<SessionEnded>(sessionEndedPayload),
    timeoutMs: 2_000,
    stageTimeoutMs: 2_000,
    purpose: 'Tells that a session is over.',
    emittedWhen: 'when a reset has closed the old session',
  }),
] as const;
