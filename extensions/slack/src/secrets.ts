import type { ChannelCredential } from 'sluice/channel';

/** The secrets of an app, by the keys that hold them in the config of an account. */
export const secrets = {
  botToken: {
    name: 'a bot token of Slack',
    setting: 'botToken',
    env: 'SLACK_BOT_TOKEN',
    shape: /^xoxb-[\w-]{10,}$/,
    looksLike: '"xoxb-" and at least 10 characters',
    hint: 'It is on the page "OAuth & Permissions" of the app at api.slack.com/apps',
  },
  appToken: {
    name: 'an app-level token of Slack',
    setting: 'appToken',
    env: 'SLACK_APP_TOKEN',
    shape: /^xapp-[\w-]{10,}$/,
    looksLike: '"xapp-" and at least 10 characters',
    hint: 'The page "Basic Information" of the app makes one with the scope connections:write',
  },
  signingSecret: {
    name: 'a signing secret of Slack',
    setting: 'signingSecret',
    env: 'SLACK_SIGNING_SECRET',
    shape: /^[\da-f]{32,}$/,
    looksLike: '32 digits and letters from a to f',
    hint: 'It is on the page "Basic Information" of the app',
  },
} as const satisfies Record<string, ChannelCredential>;

/** The variables of the environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads a secret of an account.
 *
 * @throws Error that says where it was looked for, and never what was found.
 */
export function readSecret(
  key: keyof typeof secrets,
  account: Readonly<Partial<Record<keyof typeof secrets | `${keyof typeof secrets}Env`, string>>>,
  env: Env,
): string {
  const { name, shape, looksLike, hint } = secrets[key];
  const variable = account[`${key}Env`] ?? secrets[key].env;
  const [place, text] =
    account[key] === undefined ? [variable, env[variable]] : [`config.${key}`, account[key]];
  const found = text?.trim() ?? '';
  if (found === '') throw new Error(`${place} is not set: it should hold ${name}. ${hint}`);
  if (!shape.test(found))
    throw new Error(`${place} is not ${name}, which is ${looksLike}. ${hint}`);
  return found;
}

/** Takes tokens, and the tickets of connections, out of a text. */
export function redact(text: string): string {
  return text
    .replace(/\bx(?:ox[a-z]|app)-[\w-]+/g, '<token>')
    .replace(/\bticket=[^&\s"]+/g, 'ticket=<token>');
}
