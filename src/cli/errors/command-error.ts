import { type ConfigProblem, placeOf } from '@sluice/host/internal';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';

/** The codes of the mistakes of a command line, a config or a file. */
type CommandErrorCode =
  | 'bad-arguments'
  | 'unknown-command'
  | 'missing-file'
  | 'missing-package'
  | 'unreadable-file'
  | 'bad-config'
  | 'bad-line'
  | 'unusable-port'
  | 'unknown-event'
  | 'file-exists'
  | 'interrupted'
  | 'unwritable-file'
  | 'install-failed'
  | 'bad-plugin';

/**
 * A mistake that the person at the command line has to fix.
 *
 * @example
 * throw new CommandError('missing-file', 'there is no file "sluice.json"', 'Check the path after --config.');
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: CommandErrorCode;
  /** The cure. */
  readonly hint: string;
  readonly exitCode: ExitCode;

  constructor(
    code: CommandErrorCode,
    what: string,
    hint: string,
    options: ErrorOptions & { readonly exitCode?: ExitCode } = {},
  ) {
    super(what, options);
    this.code = code;
    this.hint = hint;
    this.exitCode = options.exitCode ?? exitCodes.usage;
  }
}

/** Makes the error of a command line that asks for something that cannot be. */
export function badArguments(what: string, hint: string, options?: ErrorOptions): CommandError {
  return new CommandError('bad-arguments', what, hint, options);
}

/** The error of a command that a signal has ended. @param left says how it has left things. */
export function interrupted({ reason }: AbortSignal, left: string): CommandError {
  const what = `${String(reason)} has stopped it${left === '' ? '' : `: ${left}`}`;
  return new CommandError('interrupted', what, 'Run it again.', { exitCode: exitCodes.failed });
}

/** @throws CommandError `interrupted` if a signal has stopped a command, and not the end of the reader of its output. */
export function checkNotStopped(
  { stop, stdout }: { readonly stop: AbortSignal; readonly stdout: { readonly gone: AbortSignal } },
  left: string,
): void {
  if (stop.aborted && !stdout.gone.aborted) throw interrupted(stop, left);
}

/** The error of a config file that cannot be used, with every problem of it. */
export class ConfigError extends CommandError {
  /** One error for each problem: each is a line of its own. */
  readonly each: readonly CommandError[];

  constructor(file: string, problems: readonly ConfigProblem[]) {
    const each = problems.map(
      ({ path, message, hint }) =>
        new CommandError('bad-config', `${file} at ${placeOf(path)}: ${message}`, hint),
    );
    const [first] = each;
    super(
      'bad-config',
      each.map(({ message }) => message).join('; '),
      first?.hint ?? 'Fix the config.',
    );
    this.each = each;
  }
}
