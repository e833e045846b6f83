import { z } from 'zod';

const name = z.string().min(1);

/** The one who may answer questions, unless a rule asks for a role. */
const approver = z.union([
  z.literal('owner'),
  z.strictObject({ role: name }),
  z.strictObject({ sender: name }),
]);

/** The settings of the guard; the README has the table. */
export const guardConfig = z.strictObject({
  policies: z.array(name).min(1),
  port: z.int().min(0).max(65_535).default(7_867),
  roles: z.array(name).default([]),
  ask: z
    .strictObject({
      channel: name,
      to: name,
      accountId: name.exactOptional(),
      threadId: name.exactOptional(),
      of: approver.default('owner'),
    })
    .exactOptional(),
});

/** The settings, read. */
export type GuardConfig = z.infer<typeof guardConfig>;

/** The one who may answer a question. */
export type Approver = z.infer<typeof approver>;
