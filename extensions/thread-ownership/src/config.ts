import { z } from 'zod';

const agent = z.looseObject({
  id: z.string('must be a text').trim().min(1, 'must not be blank'),
  default: z.boolean().optional(),
  name: z.string().optional(),
  identity: z.looseObject({ name: z.string().optional() }).optional(),
  botUserId: z.string().min(1, 'must not be blank').optional(),
});

/**
 * The settings of the extension; the README has the table. `forwarderUrl` and `abTestChannels` are the names of the
 * OpenClaw plugin, so that its configuration is read as it is. An entry of `agents` may hold more than is read here:
 * it may be copied from OpenClaw's `agents.list`.
 */
export const config = z.strictObject({
  forwarderUrl: z.string().optional(),
  abTestChannels: z.array(z.string()).optional(),
  channels: z.array(z.string().min(1, 'must not be blank')).min(1).default(['slack']),
  agents: z.array(agent).default([]),
  failClosed: z.boolean().default(false),
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be one word of plain characters')
    .optional(),
  timeoutMs: z.number().int().positive().default(3_000),
  mentionTtlMs: z.number().int().positive().default(300_000),
});

/** The configuration, as it was read. */
export type Config = z.infer<typeof config>;
