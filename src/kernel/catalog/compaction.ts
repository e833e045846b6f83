import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { annotated } from './pieces/annotations.js';
import { annotatedStage, atLength } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { runFields } from './pieces/run.js';

const compactionFields = {
  ...runFields,
  cause: f.optional(f.oneOf(['auto', 'manual', 'overflow'], 'Why the transcript is compacted.')),
  messageCount: f.optional(
    f.count('How many messages it holds; absent where its engine does not say.'),
  ),
  tokenCount: f.optional(f.count('How many tokens it holds.')),
  sessionFile: f.optional(f.text('The file that holds the transcript.')),
  isSessionKeyMissing: f.optional(f.flag('Its source knew no session key.')),
};

const compactionBeforePayload = f.object({
  ...compactionFields,
  compactingCount: f.optional(f.count('How many messages will be summarized.')),
  messageCountOriginal: f.optional(f.count('How many messages it held before any were filtered.')),
  tokenCountOriginal: f.optional(f.count('How many tokens it held before any were filtered.')),
  messages: f.optional(f.opaques('What the run has of the transcript, oldest first.')),
});
/** The payload of `compaction.before`. */
export interface CompactionBefore extends Readonly<Infer<typeof compactionBeforePayload>> {}

const compactionAfterPayload = f.object({
  ...compactionFields,
  compactedCount: f.optional(
    f.count('How many messages were summarized; absent where its engine does not say.'),
  ),
  compactionCount: f.optional(f.count('How many compactions the run has had.')),
  tokensBefore: f.optional(f.count('How many tokens it held before.')),
  tokensAfter: f.optional(f.count('How many tokens it holds now.')),
  summaryLengthChars: f.optional(f.count('How long the summary is, in characters.')),
  firstKeptEntryId: f.optional(f.text('The first entry that was kept as it was.')),
  willRetry: f.optional(f.flag('The agent goes on with the same request now.')),
});
/** The payload of `compaction.after`. */
export interface CompactionAfter extends Readonly<Infer<typeof compactionAfterPayload>> {}

export const compactionStages = [
  annotatedStage({
    family: 'compaction.before',
    payload: named<CompactionBefore>(compactionBeforePayload),
    shared: ['messages'],
    annotations: annotated('memoryKeys'),
    ...atLength,
    purpose: 'Saves what is worth keeping before a summary.',
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
