import { z } from 'zod';

/** The bounds keep all arithmetic of a bucket in whole numbers that are exact. */
const maxCount = 1_000_000;
const maxWindowMs = 31 * 86_400_000;

const limit = z.strictObject({
  count: z.int('must be a whole number').min(1).max(maxCount),
  windowMs: z.int('must be a whole number of milliseconds').min(1).max(maxWindowMs),
});

/** So many messages at once, and so many in each window in the long run. */
export type Limit = z.infer<typeof limit>;

/** The settings of the extension; the README has the table. A key that is not here is refused. */
export const config = z
  .strictObject({
    perPrincipal: limit.optional(),
    perConversation: limit.optional(),
    reply: z
      .union([z.string().trim().min(1), z.literal(false)], 'must be a text or false')
      .optional(),
    exemptRoles: z.array(z.string().min(1, 'must not be blank')).default([]),
    failClosed: z.boolean().default(false),
  })
  .refine(({ perPrincipal, perConversation }) => perPrincipal ?? perConversation, {
    message: 'must have perPrincipal, perConversation or both',
  });
