import { z } from 'zod';
import type { CancelTexts } from './cancel-text.js';
import { setting } from './setting.js';

const expected = 'expected a text that is not empty, or false';

const text = (code: string) =>
  setting(
    z.union([z.literal(false), z.string().regex(/\S/, expected)], expected),
    `a text that the sender gets if a message is cancelled as "${code}", or false: nothing is sent`,
  );

/** The texts for senders of cancelled messages, by code (event-pipeline §16.20). */
export const cancelText = z.strictObject({
  blocked: text('blocked'),
  policy: text('policy'),
  'owned-elsewhere': text('owned-elsewhere'),
  duplicate: text('duplicate'),
  'rate-limited': text('rate-limited'),
  unsafe: text('unsafe'),
  'quiet-hours': text('quiet-hours'),
  'approval-required': text('approval-required'),
  'approval-denied': text('approval-denied'),
  'approval-timeout': text('approval-timeout'),
  other: text('other'),
} satisfies Record<keyof CancelTexts, z.ZodType>);
