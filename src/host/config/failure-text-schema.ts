import { z } from 'zod';
import type { FailureTexts } from './failure-text.js';
import { setting } from './setting.js';

const expected = 'expected a text that is not empty, or false';

const text = (when: string) =>
  setting(
    z.union([z.literal(false), z.string().regex(/\S/, expected)], expected),
    `a text that the sender of a message gets ${when}, or false: nothing is sent`,
  );

/** The texts for senders of messages that could not be answered, by failure code (event-pipeline §16.19). */
export const failureText = z.strictObject({
  routing: text('if no agent was chosen'),
  session: text('if its session could not be opened or kept'),
  busy: text('if too many messages wait'),
  'no-model': text('if no valid model was chosen'),
  'stage-failed': text('if a stage of the turn failed closed'),
  'provider-failed': text('if the agent failed'),
  'not-written': text('if the transcript could not be written'),
  'timed-out': text('if the turn took longer than it may'),
  other: text('for each code that has no text here'),
} satisfies Record<keyof FailureTexts, z.ZodType>);
