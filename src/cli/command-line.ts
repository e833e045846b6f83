import { Command, CommanderError } from 'commander';
import { isSluiceError } from '../kernel/index.js';
import { badArguments, CommandError } from './errors/command-error.js';
import { errorLine } from './errors/error-line.js';
import { type ExitCode, exitCodeHelp, exitCodes } from './shell/exit-codes.js';
import { secretKeeper } from './shell/output.js';
import type { Shell } from './shell/shell.js';

/** Gives a command its arguments, its options and its work, which ends in an exit code. */
export type AddCommand = (command: Command, shell: Shell, done: (code: ExitCode) => void) => void;

/** A command. Its code is loaded when it is asked for: a start does not pay for the others. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<AddCommand>;
}

const commands: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'take messages, and answer them',
    load: async () => (await import('./run/run.js')).addRun,
  },
  {
    name: 'stages',
    summary: 'show every stage with its handlers',
    load: async () => (await import('./stages/stages.js')).addStages,
  },
  {
    name: 'replay',
    summary: 'run recorded agent streams through the pipeline',
    load: async () => (await import('./replay/replay.js')).addReplay,
  },
  {
    name: 'explain',
    summary: 'say who did what in a dispatch of the journal',
    load: async () => (await import('./explain/explain.js')).addExplain,
  },
  {
    name: 'normalize',
    summary: 'print a recorded agent stream as events, or check their order',
    load: async () => (await import('./normalize/normalize.js')).addNormalize,
  },
  {
    name: 'check-plugin',
    summary: 'say what an OpenClaw plugin becomes here, and what would not work',
    load: async () => (await import('./check-plugin/check-plugin.js')).addCheckPlugin,
  },
  {
    name: 'plugin',
    summary: 'add, list, check and remove OpenClaw plugins, and use what they bring',
    load: async () => (await import('./plugin/plugin.js')).addPluginCommand,
  },
  {
    name: 'migrate',
    summary: 'write the extension that is to take the place of an OpenClaw plugin',
    load: async () => (await import('./migrate/migrate.js')).addMigrate,
  },
  {
    name: 'doctor',
    summary: 'check everything a host would run with',
    load: async () => (await import('./doctor/doctor.js')).addDoctor,
  },
  {
    name: 'init',
    summary: 'write a config, and a first extension with its test',
    load: async () => (await import('./init/init.js')).addInit,
  },
  {
    name: 'journal',
    summary: 'look into the journal of a host, and after its dead letters',
    load: async () => (await import('./journal/journal.js')).addJournal,
  },
  {
    name: 'hosts',
    summary: 'list the hosts that share a journal',
    load: async () => (await import('./hosts/hosts.js')).addHosts,
  },
  {
    name: 'events',
    summary: 'print what a journal tells, for other programs',
    load: async () => (await import('./events/events.js')).addEvents,
  },
  {
    name: 'inspect',
    summary: 'open a page in the browser on a journal',
    load: async () => (await import('./inspect/inspect.js')).addInspect,
  },
  {
    name: 'store',
    summary: 'look at what extensions keep in a journal',
    load: async () => (await import('./store/store.js')).addStore,
  },
  {
    name: 'approvals',
    summary: 'look at the questions that wait for a human, and answer them',
    load: async () => (await import('./approvals/approvals.js')).addApprovals,
  },
  {
    name: 'policy',
    summary: 'check policies, and try them on a journal',
    load: async () => (await import('./policy/policy.js')).addPolicy,
  },
];

/** The parts of the process that a command line runs with. */
export type Surroundings = Omit<Shell, 'keepSecrets'>;

/**
 * Runs a command line: everything after `sluice`. Never rejects: an error is one line on stderr, and an exit code.
 */
export async function runCommandLine(surroundings: Surroundings): Promise<ExitCode> {
  const { args } = surroundings;
  const stderr = secretKeeper(surroundings.stderr);
  const stdout = secretKeeper(surroundings.stdout); // the way of a message, and lines of JSON (spec §20.8)
  const shell: Shell = {
    ...surroundings,
    stdout: stdout.output,
    stderr: stderr.output,
    keepSecrets: (secrets) => {
      stdout.keep(secrets);
      stderr.keep(secrets);
    },
  };
  let code: ExitCode = exitCodes.ok;
  const program = programFor(shell);
  try {
    const name = args.find((arg) => !arg.startsWith('-')); // as commander finds it: no option of `sluice` has a value
    const named = commands.find((entry) => entry.name === name);
    const command = program.commands.find((one) => one.name() === name);
    if (named !== undefined && command !== undefined)
      (await named.load())(command, shell, (ended) => {
        code = ended;
      });
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok; // help, or the version
    const error = thrown instanceof CommanderError ? argumentError(thrown, program, args) : thrown;
    shell.stderr.lines([errorLine(error, args.includes('--debug'))]);
    if (isSluiceError(error, 'database-not-opened')) return exitCodes.usage; // its file is opened before anything runs
    return error instanceof CommandError ? error.exitCode : exitCodes.failed;
  }
}

function programFor(shell: Shell): Command {
  const program = new Command('sluice')
    .description(
      'A typed event pipeline for agent gateways: run it, look at it, replay through it.',
    )
    .version(shell.version, '-V, --version')
    .helpCommand(false)
    .addHelpText('after', '\nExample:\n  $ echo hi | sluice run --quiet')
    .addHelpText('afterAll', `\n${exitCodeHelp}`);
  for (const { name, summary } of commands) program.command(name).description(summary);
  for (const command of [program, ...program.commands])
    command
      .exitOverride()
      .configureHelp({ helpWidth: shell.width, subcommandTerm: (one) => one.name() }) // the arguments of one are known
      .configureOutput({
        writeOut: (text) => shell.stdout.lines([text.trimEnd()]),
        writeErr: (text) => shell.stderr.lines([text.trimEnd()]),
        outputError: () => undefined, // it is thrown as well, and told once
      });
  return program;
}

/** Tells an error of commander in the form of every other error. */
function argumentError(
  error: CommanderError,
  program: Command,
  args: readonly string[],
): CommandError {
  const named = namedCommand(program, args);
  const names = named.commands.map((command) => command.name());
  if (error.code === 'commander.help')
    return badArguments('no command was given', `Commands: ${names.join(', ')}.`);
  const what = error.message
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (error.code === 'commander.unknownCommand')
    return new CommandError('unknown-command', what, `Commands: ${names.join(', ')}.`);
  const path = named.parent?.parent ? `${named.parent.name()} ${named.name()}` : named.name();
  const help = named === program ? 'sluice --help' : `sluice ${path} --help`;
  const ofChannel =
    error.code === 'commander.unknownOption' && path === 'run'
      ? ' A channel brings options of its own: `sluice run --channel NAME --help`.'
      : '';
  return badArguments(what, `See \`${help}\`.${ofChannel}`);
}

/** The command that the words of a command line name, such as `plugin run`; `sluice` itself if they name none. */
function namedCommand(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const word of args.filter((arg) => !arg.startsWith('-'))) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) return command;
    command = next;
  }
  return command;
}
