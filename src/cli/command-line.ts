import { Command, CommanderError } from 'commander';
import { isSluiceError } from '../kernel/index.js';
import { addApprovals } from './approvals/approvals.js';
import { addCheckPlugin } from './check-plugin/check-plugin.js';
import { addDoctor } from './doctor/doctor.js';
import { badArguments, CommandError } from './errors/command-error.js';
import { errorLine } from './errors/error-line.js';
import { addExplain } from './explain/explain.js';
import { addInit } from './init/init.js';
import { addJournal } from './journal/journal.js';
import { addNormalize } from './normalize/normalize.js';
import { addPolicy } from './policy/policy.js';
import { addReplay } from './replay/replay.js';
import { addRun } from './run/run.js';
import { type ExitCode, exitCodeHelp, exitCodes } from './shell/exit-codes.js';
import { secretKeeper } from './shell/secret-keeper.js';
import type { Shell } from './shell/shell.js';
import { addStages } from './stages/stages.js';
import { addStore } from './store/store.js';

/** Registers one command. Its work ends in an exit code. */
export type AddCommand = (program: Command, shell: Shell, done: (code: ExitCode) => void) => void;

const commands: readonly AddCommand[] = [
  addRun,
  addStages,
  addReplay,
  addExplain,
  addNormalize,
  addCheckPlugin,
  addDoctor,
  addInit,
  addJournal,
  addStore,
  addApprovals,
  addPolicy,
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
  const program = programFor(shell, (ended) => {
    code = ended;
  });
  try {
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

function programFor(shell: Shell, done: (code: ExitCode) => void): Command {
  const program = new Command('sluice')
    .description(
      'A typed event pipeline for agent gateways: run it, look at it, replay through it.',
    )
    .version(shell.version, '-V, --version')
    .helpCommand(false)
    .addHelpText('after', '\nExample:\n  $ echo hi | sluice run --quiet');
  for (const add of commands) add(program, shell, done);
  for (const command of [program, ...program.commands])
    command
      .addHelpText('after', `\n${exitCodeHelp}`)
      .exitOverride()
      .configureHelp({ helpWidth: shell.width })
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
  const names = program.commands.map((command) => command.name());
  if (error.code === 'commander.help')
    return badArguments('no command was given', `Commands: ${names.join(', ')}.`);
  const what = error.message
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (error.code === 'commander.unknownCommand')
    return new CommandError('unknown-command', what, `Commands: ${names.join(', ')}.`);
  const command = names.find((name) => args.includes(name));
  const help = command === undefined ? 'sluice --help' : `sluice ${command} --help`;
  const ofChannel =
    error.code === 'commander.unknownOption' && command === 'run'
      ? ' A channel brings options of its own: `sluice run --channel NAME --help`.'
      : '';
  return badArguments(what, `See \`${help}\`.${ofChannel}`);
}
