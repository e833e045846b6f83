import { Command, CommanderError } from 'commander';
import { isSluiceError } from 'sluice-kernel';
import { badArguments, CommandError, interrupted } from './errors/command-error.js';
import { errorLine } from './errors/error-line.js';
import { type ExitCode, exitCodeHelp, exitCodes } from './shell/exit-codes.js';
import { secretKeeper } from './shell/output.js';
import type { Addition, CommandRow, Shell } from './shell/shell.js';

/** The commands, as their list has them. The code of one is loaded when it is asked for: a start does not pay for the others. */
const table: Readonly<Record<string, readonly [summary: string, load: CommandRow['load']]>> = {
  run: ['take messages, and answer them', () => import('./run/run.js')],
  stages: ['show every stage with its handlers', () => import('./stages/stages.js')],
  replay: ['run recorded agent streams through the pipeline', () => import('./replay/replay.js')],
  explain: ['say who did what in a dispatch of the journal', () => import('./explain/explain.js')],
  status: ['say in a few lines how a host is', () => import('./status/status.js')],
  doctor: ['check everything a host would run with', () => import('./doctor/doctor.js')],
  init: ['write a config, and a first extension with its test', () => import('./init/init.js')],
  journal: [
    'look into the journal of a host, and after its dead letters',
    () => import('./journal/journal.js'),
  ],
  hosts: ['list the hosts that share a journal', () => import('./hosts/hosts.js')],
  events: ['print what a journal tells, for other programs', () => import('./events/events.js')],
  inspect: ['open a page in the browser on a journal', () => import('./inspect/inspect.js')],
  store: ['look at what extensions keep in a journal', () => import('./store/store.js')],
  approvals: [
    'look at the questions that wait for a human, and answer them',
    () => import('./approvals/approvals.js'),
  ],
  guard: ['judge what coding agents do', () => import('./guard/guard.js')],
  record: ['take out of a journal what proves its record', () => import('./record/record.js')],
  verify: ['say whether a record is as it was written', () => import('./record/verify.js')],
  policy: ['check policies, and try them on a journal', () => import('./policy/policy.js')],
};

/** All commands. Those of additions stand before `doctor`. */
function commandRows(additions: readonly Addition[]): readonly CommandRow[] {
  const own = Object.entries(table).map(([name, [summary, load]]) => ({ name, summary, load }));
  const at = own.findIndex(({ name }) => name === 'doctor');
  return own.toSpliced(at, 0, ...additions.flatMap(({ commands = [] }) => commands));
}

/** The parts of the process that a command line runs with. */
export type Surroundings = Omit<Shell, 'keepSecrets' | 'takeStop'>;

/**
 * Runs a command line: everything after `sluice`. Never rejects: an error is one line on stderr, and an exit code.
 */
export async function runCommandLine(surroundings: Surroundings): Promise<ExitCode> {
  const { args } = surroundings;
  const stderr = secretKeeper(surroundings.stderr);
  const stdout = secretKeeper(surroundings.stdout); // the timeline of a message, and lines of JSON (spec §20.8)
  let isTaken = false;
  const shell: Shell = {
    ...surroundings,
    takeStop: () => {
      isTaken = true;
      return surroundings.stop;
    },
    stdout: stdout.output,
    stderr: stderr.output,
    keepSecrets: (secrets) => {
      stdout.keep(secrets);
      stderr.keep(secrets);
    },
  };
  let code: ExitCode = exitCodes.ok;
  const rows = commandRows(shell.additions);
  const program = programFor(shell, rows);
  try {
    const name = args.find((arg) => !arg.startsWith('-')); // as commander finds it: no option of `sluice` has a value
    const command = program.commands.find((one) => one.name() === name);
    const row = rows.find((one) => one.name === name);
    if (command !== undefined && row !== undefined) {
      const { addCommand } = await row.load();
      addCommand(command, shell, (ended) => {
        code = ended;
      });
    }
    const ended = program.parseAsync(args, { from: 'user' });
    await Promise.race([ended, stopped(shell, () => isTaken)]);
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok; // help, or the version
    const error = thrown instanceof CommanderError ? argumentError(thrown, program, args) : thrown;
    shell.stderr.lines([errorLine(error, args.includes('--debug'))]);
    if (isSluiceError(error, 'database-not-opened')) return exitCodes.usage; // its file is opened before anything runs
    return error instanceof CommandError ? error.exitCode : exitCodes.failed;
  }
}

/** Rejects when a signal has to end a command that does not end itself: such a one has nothing that could be half done. */
function stopped({ stop, stdout }: Shell, isTaken: () => boolean): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => {
      if (!isTaken() && !stdout.gone.aborted) reject(interrupted(stop, ''));
    };
    stop.addEventListener('abort', end, { once: true });
  });
}

function programFor(shell: Shell, rows: readonly CommandRow[]): Command {
  const program = new Command('sluice')
    .description(
      'A typed event pipeline for agent gateways: run it, look at it, replay through it.',
    )
    .version(shell.version, '-V, --version')
    .helpCommand(false)
    .addHelpText('after', '\nExample:\n  $ echo hi | sluice run --quiet')
    .addHelpText('afterAll', `\n${exitCodeHelp}`);
  for (const { name, summary } of rows) program.command(name).description(summary);
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
  if (error.code === 'commander.unknownCommand' && named !== program)
    return badArguments(`there is no action "${named.args[0]}"`, `Actions: ${names.join(', ')}.`);
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
