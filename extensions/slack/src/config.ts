import type { AccessRules } from 'sluice/chat';
import { z } from 'zod';

const person = z
  .string()
  .regex(/^[UW][A-Z\d]{2,}$/, 'must be the id of a member, such as U012AB3CD');
const people = z.array(person);
const policy = z.enum(['open', 'allowlist', 'disabled']).exactOptional();
const word = z.string().min(1);

const account = z.strictObject({
  /** Secrets: in a config file the names of secrets, never the secrets themselves. */
  botToken: word.exactOptional(),
  botTokenEnv: word.exactOptional(),
  appToken: word.exactOptional(),
  appTokenEnv: word.exactOptional(),
  signingSecret: word.exactOptional(),
  signingSecretEnv: word.exactOptional(),
  /** Takes events over HTTP at this address, in place of a socket. */
  events: z
    .strictObject({
      host: word.default('127.0.0.1'),
      port: z.number().int().min(0).max(65_535).default(3_000),
      path: z.string().startsWith('/').default('/slack/events'),
    })
    .exactOptional(),
});

/** The settings of the extension. A key that is not here is refused. The README explains each. */
export const config = z
  .strictObject({
    accounts: z
      .record(word, account)
      .refine((all) => Object.keys(all).length > 0, 'must name an account')
      .default({ default: {} }),
    apiRoot: z
      .url({ protocol: /^https?$/, error: 'must be an http address' })
      .transform((url) => `${url.replace(/\/+$/, '')}/`)
      .exactOptional(),
    dmPolicy: policy,
    allowFrom: people.default([]),
    channelPolicy: policy,
    channels: z
      .record(
        z.string().regex(/^[CG][A-Z\d]{2,}$/, 'must be the id of a channel, such as C012AB3CD'),
        z.strictObject({
          requireMention: z.boolean().exactOptional(),
          allowFrom: people.exactOptional(),
        }),
      )
      .default({}),
    requireMention: z.boolean().default(true),
    replyInThread: z.boolean().default(true),
    edits: z.enum(['answer', 'ignore']).default('answer'),
    format: z.enum(['markdown', 'plain']).default('markdown'),
    streaming: z.boolean().default(true),
    mediaRoots: z.array(word).default([]),
    /** The slash command whose first word is the command of the host. */
    slashCommand: z
      .string()
      .regex(/^\/[\w-]+$/, 'must be a slash and a word')
      .exactOptional(),
    assistant: z
      .strictObject({
        status: word.exactOptional(),
        prompts: z
          .array(z.strictObject({ title: word, message: word }))
          .max(4)
          .default([]),
      })
      .exactOptional(),
    resend: z.boolean().default(false),
  })
  .prefault({});

/** The settings, read and complete. */
export type SlackConfig = z.infer<typeof config>;

/** The settings that say who may write to the bot, and where. */
export type AccessConfig = Pick<
  SlackConfig,
  'dmPolicy' | 'allowFrom' | 'channelPolicy' | 'channels' | 'requireMention'
>;

/** The rules of who may write to the bot, and where. */
export function rulesOf({ dmPolicy, channelPolicy, channels, ...more }: AccessConfig): AccessRules {
  return {
    allowFrom: more.allowFrom,
    requireMention: more.requireMention,
    groups: channels,
    ...(dmPolicy !== undefined && { dmPolicy }),
    ...(channelPolicy !== undefined && { groupPolicy: channelPolicy }),
  };
}
