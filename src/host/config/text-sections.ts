import { z } from 'zod';
import { canonicalStages } from '../../kernel/index.js';
import type { CancelReplyCode } from './cancel-text.js';
import type { FailureTexts } from './failure-text.js';
import { setting } from './setting.js';

const expected = 'expected a text that is not empty, or false';
const textOrFalse = z.union([z.literal(false), z.string().regex(/\S/, expected)], expected);

const onFailure = (when: string) =>
  setting(
    textOrFalse,
    `a text that the sender of a message gets ${when}, or false: nothing is sent`,
  );

/** The texts for senders of messages that could not be answered, by failure code (event-pipeline §16.19). */
export const failureText = z.strictObject({
  routing: onFailure('if no agent was chosen'),
  session: onFailure('if its session could not be opened or kept'),
  busy: onFailure('if too many messages wait'),
  'no-model': onFailure('if no valid model was chosen'),
  'stage-failed': onFailure('if a stage of the turn failed closed'),
  'provider-failed': onFailure('if the agent failed'),
  'not-written': onFailure('if the transcript could not be written'),
  'timed-out': onFailure('if the turn took longer than it may'),
  other: onFailure('for each code that has no text here'),
} satisfies Record<keyof FailureTexts, z.ZodType>);

const onCancel = (code: string) =>
  setting(
    textOrFalse,
    `a text that the sender gets if a message is cancelled as "${code}", or false: nothing is sent`,
  );
const cancelCodes = canonicalStages.flatMap((stage) =>
  stage.cancelReplies ? stage.cancelCodes : [],
);

/** The texts for senders of cancelled messages, by code (event-pipeline §16.20). */
export const cancelText = z.strictObject(
  Object.fromEntries(cancelCodes.map((code) => [code, onCancel(code)])) as Record<
    CancelReplyCode,
    ReturnType<typeof onCancel>
  >, // the codes of the two stages that the type names
);
