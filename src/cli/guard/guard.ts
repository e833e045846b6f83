import { dirname, join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { badArguments } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import { ownPackage } from '../installed/own-package.js';
import { type Answer, type Given, resource } from '../resource/resource.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import { installActions } from './install-actions.js';
import { type McpOptions, mcp } from './mcp.js';

interface GuardOptions extends McpOptions {
  readonly watch?: boolean;
}

const help = `
The guard judges what coding agents do, by policies. It is in the package sluice-guard.

Examples:
  $ sluice guard init
  $ sluice guard doctor --json
  $ sluice guard run
  $ sluice guard run --config ./guard.config.json --watch
  $ sluice guard mcp --name files -- npx @modelcontextprotocol/server-filesystem .`;

/** Adds `sluice guard`, which judges the calls of coding agents. */
export const addCommand = resource<GuardOptions>({
  options: [
    new Option('--config <file>', 'the config of the guard').default('.sluice/guard.config.json'),
  ],
  actions: {
    ...installActions,
    run: {
      summary: 'judge the calls of coding agents until it is stopped',
      options: [new Option('-w, --watch', 'load the policies again when their files change')],
      work: run,
    },
    'mcp [command...]': mcp,
  },
  help,
});

async function run({ options, shell }: Given<GuardOptions>): Promise<Answer> {
  const { config, watch } = options;
  const { cwd, stderr } = shell;
  const { isRunning } = await ownPackage<GuardPackage>('sluice-guard', 'the guard is', cwd);
  const file = resolve(cwd, config);
  checkFile(file, config, 'Write it by `sluice guard init`, or name another with --config.');
  const folder = join(dirname(file), 'guard');
  if (await isRunning(folder))
    throw badArguments(
      `a guard runs already for ${folder}`,
      'Stop that one first: one guard serves all agents of a folder.',
    );
  let code: ExitCode = exitCodes.ok;
  const command = new Command('run').exitOverride();
  const { addCommand: addRun } = await import('../run/run.js');
  addRun(command, shell, (ended) => {
    code = ended;
  });
  stderr.lines(['sluice guard: Ctrl-C or SIGTERM stops it.']);
  const args = ['--config', file, ...(watch === true ? ['--watch'] : [])];
  await command.parseAsync(args, { from: 'user' });
  return { data: [], lines: () => [], code };
}

/** The package of the guard, as far as the command line needs it. */
interface GuardPackage {
  isRunning(folder: string): Promise<boolean>;
}
