import type { Infer } from '../schema/schema.js';
import { named } from '../stage/named.js';
import { canonicalStage } from './pieces/canonical-stage.js';
import * as f from './pieces/field.js';
import { transcriptMessage } from './pieces/message.js';
import { sessionFields } from './pieces/run.js';

const writeFields = {
  ...sessionFields,
  runId: f.optional(f.text('The agent run.')),
  message: transcriptMessage('The message that is to be written.'),
};

const writePatch = { message: f.optional(transcriptMessage('The message to write instead.')) };

const transcriptToolResultPersistingPayload = f.object({
  ...writeFields,
  toolName: f.optional(f.text('The tool.')),
  toolCallId: f.optional(f.text('The call that it answers.')),
  isSynthetic: f.optional(f.flag('Made up by the host for a call that got no answer.')),
});
/** The payload of `transcript.tool-result.persisting`. */
export interface TranscriptToolResultPersisting
  extends Readonly<Infer<typeof transcriptToolResultPersistingPayload>> {}

const transcriptToolResultPersistingPatch = f.object(writePatch);
/** The patch that a mutator of `transcript.tool-result.persisting` may return. */
export interface TranscriptToolResultPersistingPatch
  extends Infer<typeof transcriptToolResultPersistingPatch> {}

const transcriptMessageWritingPayload = f.object(writeFields);
/** The payload of `transcript.message.writing`. */
export interface TranscriptMessageWriting
  extends Readonly<Infer<typeof transcriptMessageWritingPayload>> {}

const transcriptMessageWritingPatch = f.object(writePatch);
/** The patch that a mutator of `transcript.message.writing` may return. */
export interface TranscriptMessageWritingPatch
  extends Infer<typeof transcriptMessageWritingPatch> {}

export const transcriptStages = [
  canonicalStage({
    family: 'transcript.tool-result.persisting',
    classes: ['mutator'],
    mode: 'sync-sequential',
    hotPath: true,
    payload: named<TranscriptToolResultPersisting>(transcriptToolResultPersistingPayload),
    patch: named<TranscriptToolResultPersistingPatch>(transcriptToolResultPersistingPatch),
    shared: ['message'],
    purpose: 'Changes a tool result in the transcript.',
    emittedBy: 'turn',
    emittedWhen: 'for each tool result, before transcript.message.writing',
  }),
  canonicalStage({
    family: 'transcript.message.writing',
    classes: ['mutator', 'veto'],
    mode: 'sync-sequential',
    hotPath: true,
    payload: named<TranscriptMessageWriting>(transcriptMessageWritingPayload),
    patch: named<TranscriptMessageWritingPatch>(transcriptMessageWritingPatch),
    shared: ['message'],
    cancelCodes: ['suppressed', 'policy', 'duplicate'],
    purpose: 'Changes a message, or keeps it out of the transcript.',
    emittedBy: 'turn',
    emittedWhen: 'for each message that the transcript gets',
  }),
] as const;
