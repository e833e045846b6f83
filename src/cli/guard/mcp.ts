import { dirname, join, resolve } from 'node:path';
import { Option } from 'commander';
import { badArguments } from '../errors/command-error.js';
import { ownPackage } from '../installed/own-package.js';
import type { Action } from '../resource/resource.js';
import { exitCodes } from '../shell/exit-codes.js';
import { open as openOption } from './install-actions.js';

/** The options of the proxy. */
export interface McpOptions {
  readonly config: string;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly listen?: string;
  readonly name?: string;
  readonly hide?: readonly string[];
  readonly open?: boolean;
}

const list = (one: string, before: readonly string[] = []): readonly string[] => [...before, one];

/** Stands before a server of MCP, and has the running guard judge its tools. */
export const mcp: Action<McpOptions> = {
  summary: 'stand before a server of MCP: guard mcp -- COMMAND, or --url',
  options: [
    new Option('--url <url>', 'the server, if it speaks streamable HTTP'),
    new Option('--header <name=VARIABLE>', 'a header for it, from the environment').argParser(list),
    new Option('--listen <port>', 'serve streamable HTTP on loopback, in place of stdio'),
    new Option('--name <name>', 'the name of the server in `mcp__NAME__TOOL`'),
    new Option('--hide <pattern>', 'tools that are not there, such as "drop_*"').argParser(list),
    openOption,
  ],
  work: async ({ args: command, options, shell }) => {
    const { config, url, header = [], listen, name, hide = [], open = false } = options;
    const { cwd, stdin, stdout, stderr } = shell;
    const { SLUICE_MCP_TOKEN: token, ...env } = shell.env; // the server is not told
    if ((url === undefined) === (command.length === 0))
      throw badArguments(
        'name one server of MCP',
        'Write `sluice guard mcp -- COMMAND ARGS`, or `sluice guard mcp --url URL`.',
      );
    const port = listen === undefined ? undefined : Number(listen);
    if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535))
      throw badArguments(`--listen ${listen}: that is no port`, '0 takes one that is free.');
    const { guardMcp } = await ownPackage<McpPackage>('sluice-guard', 'the guard is', cwd);
    const isDone = await guardMcp({
      ...{ folder: join(dirname(resolve(cwd, config)), 'guard'), cwd, env, stdin, hide },
      server: url === undefined ? { command } : { url, headers: headersFrom(header, env) },
      isOpen: open,
      ...(port !== undefined && { port }),
      ...(name !== undefined && { name }),
      ...(token !== undefined && { token }),
      write: (text) => stdout.write(text),
      warn: (line) => stderr.lines([`sluice guard mcp: ${line}`]),
      stop: shell.takeStop(),
    }).catch((error: Error) => {
      throw badArguments(`the proxy cannot start: ${error.message}`, 'Run the server by hand.');
    });
    return { data: [], lines: () => [], code: isDone ? exitCodes.ok : exitCodes.failed };
  },
};

function headersFrom(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const pairs = given.map((one) => {
    const [name = '', variable = ''] = one.split('=', 2);
    const value = env[variable];
    if (value === undefined)
      throw badArguments(`--header ${one}: the environment has no "${variable}"`, 'Set it.');
    return [name, value];
  });
  return Object.fromEntries(pairs);
}

/** The package of the guard, as far as the command needs it. */
interface McpPackage {
  guardMcp(given: {
    readonly write: (text: string) => Promise<void>;
    readonly warn: (line: string) => void;
    /** The others of its `McpOptions`. */
    readonly [other: string]: unknown;
  }): Promise<boolean>;
}
