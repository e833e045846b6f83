import type { ApprovalScope } from 'sluice';
import { z } from 'zod';

const scopes = ['tool', 'session', 'principal'] as const satisfies readonly ApprovalScope[];
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const ref = z.strictObject({ channel: z.string(), id: z.string() });

const principal = z.strictObject({
  channel: z.string().default('test'),
  accountId: z.string().default('default'),
  conversationId: z.string().optional(),
  senderId: z.string().default('someone'),
  senderName: z.string().optional(),
  isOwner: z.boolean().default(false),
  roles: z.array(z.string()).default([]),
});

const event = z.strictObject({
  occurredAt: z.union([z.number(), z.iso.datetime({ offset: true })]).optional(),
  workspaceId: z.string().optional(),
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  accountRef: ref.optional(),
  conversationRef: ref.optional(),
  threadRef: ref.optional(),
  messageRef: ref.optional(),
});

/** The results of a rule that an example may expect. */
const verdicts = ['denied', 'asked', 'allowed', 'failed'] as const;

const example = z.strictObject({
  payload: z.record(z.string(), z.unknown()).default({}),
  principal: principal.optional(),
  event: event.optional(),
  is: z.enum(verdicts),
});

/** A rule as it stands in a file; the README has the table. */
export const ruleSchema = z
  .strictObject({
    id: z.string().regex(/^[\p{L}\p{N}._-]+$/u, 'must be a name without spaces and slashes'),
    family: z.string(),
    match: z.record(z.string(), z.union([scalar, z.array(scalar).min(1)])).optional(),
    'deny when': z.string().optional(),
    'ask when': z.string().optional(),
    code: z.string().optional(),
    text: z.string().optional(),
    title: z.string().optional(),
    of: z
      .union([z.enum(['principal', 'owner']), z.strictObject({ role: z.string().min(1) })])
      .optional(),
    timeoutMs: z.number().int().positive().optional(),
    scopes: z.array(z.enum(scopes)).optional(),
    mode: z.enum(['enforce', 'audit']).default('enforce'),
    failClosed: z.boolean().default(true),
    priority: z.number().optional(),
    expect: z.array(example).min(1, 'needs at least one example'),
  })
  .refine((rule) => (rule['deny when'] === undefined) !== (rule['ask when'] === undefined), {
    message: 'needs "deny when" or "ask when", and not both',
  })
  .refine(
    (rule) =>
      rule['deny when'] === undefined ||
      !['title', 'of', 'timeoutMs', 'scopes'].some((key) => key in rule),
    { message: 'has title, of, timeoutMs or scopes, which belong to "ask when"' },
  )
  .refine((rule) => rule['ask when'] === undefined || rule.code === undefined, {
    message: 'has a code, which belongs to "deny when"',
  });

/** The names of the settings of a rule, for hints. */
export const ruleKeys: readonly string[] = Object.keys(ruleSchema.shape);

/** A rule as it was read. */
export type RawRule = z.infer<typeof ruleSchema>;

/** An example of a rule. */
export type Example = RawRule['expect'][number];

/** A result of a rule. */
export type Verdict = (typeof verdicts)[number];
