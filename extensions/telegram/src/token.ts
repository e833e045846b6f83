import { readFile } from 'node:fs/promises';

/** The place of an account's token: in the settings, in a file, or in the environment. */
interface TokenSource {
  readonly token?: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
}

/** The variable of an account that says nothing else. */
export const defaultTokenEnv = 'TELEGRAM_BOT_TOKEN';

/** The form of a token. */
export const tokenShape = /^\d{3,}:[\w-]{30,}$/;

/**
 * Reads the token of an account.
 *
 * @throws Error that says where it was looked for, and never what was found.
 */
export async function readToken(
  { token, tokenEnv = defaultTokenEnv, tokenFile }: TokenSource,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const [place, text] =
    token !== undefined
      ? ['config', token]
      : tokenFile !== undefined
        ? [`the file ${tokenFile}`, await textOf(tokenFile)]
        : [tokenEnv, env[tokenEnv]];
  const found = text?.trim() ?? '';
  if (found === '')
    throw new Error(`${place} holds no token; set it to the one that @BotFather gave you`);
  if (!tokenShape.test(found))
    throw new Error(
      `${place} holds no token of a bot: it should be digits, a colon and 35 letters, digits, "_" or "-"`,
    );
  return found;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as { readonly code?: string }; // what node:fs rejects with
    throw new Error(`the file ${file} that should hold the token cannot be read (${code})`);
  }
}
