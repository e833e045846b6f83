import type { Static } from 'typebox';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, atLength } from './pieces/canonical-stage.js';
import { count, flag, object, oneOf, opaques, optional, text } from './pieces/field.js';
import { runFields } from './pieces/run.js';

const compactionFields = {
  ...runFields,
  cause: optional(oneOf(['auto', 'manual', 'overflow'], 'Why the transcript is compacted.')),
  messageCount: optional(
    count('How many messages it holds; absent where its engine does not say.'),
  ),
  tokenCount: optional(count('How many tokens it holds.')),
  sessionFile: optional(text('The file that holds the transcript.')),
  isSessionKeyMissing: optional(flag('Its source knew no session key.')),
};

const compactionBeforePayload = object({
  ...compactionFields,
  compactingCount: optional(count('How many messages will be summarized.')),
  messageCountOriginal: optional(count('How many messages it held before any were filtered.')),
  tokenCountOriginal: optional(count('How many tokens it held before any were filtered.')),
  messages: optional(opaques('What the run has of the transcript, oldest first.')),
});
/** The payload of `compaction.before`. */
export interface CompactionBefore extends Readonly<Static<typeof compactionBeforePayload>> {}

const compactionAfterPayload = object({
  ...compactionFields,
  compactedCount: optional(
    count('How many messages were summarized; absent where its engine does not say.'),
  ),
  compactionCount: optional(count('How many compactions the run has had.')),
  tokensBefore: optional(count('How many tokens it held before.')),
  tokensAfter: optional(count('How many tokens it holds now.')),
  summaryLengthChars: optional(count('How long the summary is, in characters.')),
  firstKeptEntryId: optional(text('The first entry that was kept as it was.')),
  willRetry: optional(flag('The agent goes on with the same request now.')),
});
/** The payload of `compaction.after`. */
export interface CompactionAfter extends Readonly<Static<typeof compactionAfterPayload>> {}

export const compactionStages = [
  annotatedStage({
    family: 'compaction.before',
    payload: named<CompactionBefore>(compactionBeforePayload),
    shared: ['messages'],
    annotations: annotated('memoryKeys'),
    ...atLength,
    purpose: 'Saves what is worth keeping of a transcript before it is summarized.',
    emittedBy: 'turn',
    emittedWhen: 'when an agent begins to compact its transcript',
  }),
  annotatedStage({
    family: 'compaction.after',
    payload: named<CompactionAfter>(compactionAfterPayload),
    annotations: annotated('memoryKeys'),
    ...atLength,
    purpose: 'Tells what a compaction left.',
    emittedBy: 'turn',
    emittedWhen: 'when a compaction has ended, tried again or not',
  }),
] as const;
