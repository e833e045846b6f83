import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { isLoopback } from 'sluice/host';

/** The settings from the command line and the environment. */
export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly ttlMs: number;
  readonly token: string | undefined;
  /** Names beside `localhost` that it may be asked by where it listens for this machine and wants no token. */
  readonly allowedHosts: readonly string[];
  readonly json: boolean;
  readonly verbose: boolean;
}

/** Help that was asked for, or what is wrong with the command line. */
type NoOptions = { readonly help: string } | { readonly problem: string; readonly hint: string };

const help = `
The first agent that asks for a thread has it, until it has not asked for --ttl-seconds.
If other machines can reach the service, it wants a token: from SLUICE_OWNERSHIP_TOKEN or from
a file. If only this machine can, and there is no token, a request whose Host is no name of
this machine is refused: a page in a browser could have sent it.

Examples:
  $ sluice-ownership
  $ sluice-ownership --database /var/lib/sluice/ownership.db --port 8750
  $ SLUICE_OWNERSHIP_TOKEN=... sluice-ownership --host 0.0.0.0 --json
  $ curl -X POST -H 'content-type: application/json' -d '{"agent_id":"billing"}' \\
      http://127.0.0.1:8750/api/v1/ownership/C123/1234.5678

Exit codes:
  0    it was stopped by SIGTERM or Ctrl-C
  1    it could not listen
  2    nothing ran: the command line, the database or the token file is wrong
  130  a second signal ended it at once`;

/** Reads a command line. Never throws. */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): ServerOptions | NoOptions {
  let shown = '';
  const command = new Command('sluice-ownership')
    .description('Says which agent owns a thread: the ownership service, over HTTP.')
    .version(version, '-V, --version')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes a free one', whole(0, 65_535), 8_750)
    .option(
      '--database <file>',
      'where claims are kept; :memory: forgets them',
      './sluice-ownership.db',
    )
    .option('--ttl-seconds <number>', 'how long a claim lasts', whole(1, 315_360_000), 86_400)
    .option('--token-file <file>', 'a file that holds the token')
    .option('--allow-anonymous', 'do without a token, also where other machines can ask')
    .option('--allow-host <name...>', 'further names in Host, of a proxy say, without a token')
    .option('--json', 'print a line of JSON per event')
    .option('--verbose', 'tell of every request')
    .allowExcessArguments(false)
    .addHelpText('after', help)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        shown += text;
      },
      outputError: () => undefined, // it is thrown as well
    });
  try {
    command.parse(args, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return { help: shown.trimEnd() };
    const problem = thrown.message.replace(/^error: /, '').replace(/\s+/g, ' ');
    return { problem, hint: 'See `sluice-ownership --help`.' };
  }
  return checked(command.opts(), env);
}

interface Given {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly ttlSeconds: number;
  readonly tokenFile?: string;
  readonly allowAnonymous?: boolean;
  readonly allowHost?: readonly string[];
  readonly json?: boolean;
  readonly verbose?: boolean;
}

function checked(
  given: Given,
  env: Readonly<Record<string, string | undefined>>,
): ServerOptions | NoOptions {
  const { host, port, database, ttlSeconds, tokenFile, json = false, verbose = false } = given;
  let token = env['SLUICE_OWNERSHIP_TOKEN'] || undefined;
  if (tokenFile !== undefined) {
    try {
      token = readFileSync(tokenFile, 'utf8').trim();
    } catch {
      return { problem: `the token file "${tokenFile}" cannot be read`, hint: 'Check its path.' };
    }
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    return {
      problem: 'the token is no word of plain characters',
      hint: 'Take letters and digits.',
    };
  if (token === undefined && !isLoopback(host) && given.allowAnonymous !== true)
    return {
      problem: `other machines can reach ${host}, and there is no token`,
      hint: 'Set SLUICE_OWNERSHIP_TOKEN or --token-file, or say --allow-anonymous.',
    };
  const allowedHosts = given.allowHost ?? [];
  return { host, port, database, ttlMs: ttlSeconds * 1_000, token, allowedHosts, json, verbose };
}

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };
}
