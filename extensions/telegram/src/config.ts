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
  /** Whether the bot must be named there; as for all groups where unsaid. */
  requireMention: z.boolean().exactOptional(),
  /** Who may write there; everyone in it where unsaid. */
  allowFrom: people.exactOptional(),
});

/** Who may write to the bot, and where. */
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
  /** What Telegram is told to call; it is told nothing where unsaid. */
  url: z.url({ protocol: /^https$/, error: 'must be an https address' }).exactOptional(),
  host: z.string().min(1).default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(8_443),
  path: z.string().startsWith('/').default('/telegram'),
  /** What Telegram sends along: in a config file the name of a secret. */
  secret: z.string().min(1).exactOptional(),
  secretEnv: z.string().min(1).default('TELEGRAM_WEBHOOK_SECRET'),
});

/** What the extension may be told. A key that is not here is refused. The README explains each. */
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

/** Who may write to the bot, and where. */
export type AccessConfig = Pick<
  TelegramConfig,
  'dmPolicy' | 'allowFrom' | 'groupPolicy' | 'groups' | 'requireMention'
>;
