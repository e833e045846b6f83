import { z } from 'zod';

/** A person by id, or by `@name`. An id lasts; a name can be given up and taken by another. */
const whom = 'must be a user id or @name';
const person = z
  .union([z.number().int().positive(), z.string().regex(/^(\d+|@?[A-Za-z]\w{3,31})$/, whom)], {
    error: whom,
  })
  .transform((value) => String(value).replace(/^@/, '').toLowerCase());

const people = z.array(person);

const group = z.strictObject({
  /** The bot must be named there; by default as for all groups. */
  requireMention: z.boolean().exactOptional(),
  /** The people who may write there; by default everyone in it. */
  allowFrom: people.exactOptional(),
});

/** The rules of who may write to the bot, and where. */
const access = {
  dmPolicy: z.enum(['open', 'allowlist', 'disabled']).exactOptional(),
  allowFrom: people.default([]),
  groupPolicy: z.enum(['open', 'allowlist', 'disabled']).exactOptional(),
  groups: z.record(z.string().regex(/^-?\d+$/, 'must be a chat id'), group).default({}),
  requireMention: z.boolean().default(true),
};

const account = z.strictObject({
  /** Its token: in a config file the name of a secret, never the token itself. */
  token: z.string().min(1).exactOptional(),
  /** The environment variable that holds its token. */
  tokenEnv: z.string().min(1).exactOptional(),
  /** A file that holds its token, and nothing else. */
  tokenFile: z.string().min(1).exactOptional(),
});

const webhook = z.strictObject({
  /** The URL that Telegram is told to call; by default it is told none. */
  url: z.url({ protocol: /^https$/, error: 'must be an https address' }).exactOptional(),
  host: z.string().min(1).default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(8_443),
  path: z.string().startsWith('/').default('/telegram'),
  /** The secret that Telegram sends along: in a config file the name of a secret. */
  secret: z.string().min(1).exactOptional(),
  secretEnv: z.string().min(1).default('TELEGRAM_WEBHOOK_SECRET'),
});

/** The settings of the extension. A key that is not here is refused. The README explains each. */
export const config = z
  .strictObject({
    accounts: z
      .record(z.string().min(1), account)
      .refine((all) => Object.keys(all).length > 0, 'must name an account')
      .default({ default: {} }),
    apiRoot: z
      .url({ protocol: /^https?$/, error: 'must be an http address' })
      .transform((url) => url.replace(/\/+$/, ''))
      .exactOptional(),
    ...access,
    edits: z.enum(['answer', 'ignore']).default('answer'),
    format: z.enum(['markdown', 'plain']).default('markdown'),
    streaming: z.boolean().default(true),
    mediaRoots: z.array(z.string().min(1)).default([]),
    replaceWebhook: z.boolean().default(false),
    webhook: webhook.exactOptional(),
  })
  .prefault({});

/** The settings, read and complete. */
export type TelegramConfig = z.infer<typeof config>;

/** The rules of who may write to the bot, and where. */
export type AccessConfig = Pick<
  TelegramConfig,
  'dmPolicy' | 'allowFrom' | 'groupPolicy' | 'groups' | 'requireMention'
>;
