import { type ExitCode, exitCodes } from '../shell/exit-codes.js';

/** What can be wrong with a command line, a config or a file, as the error line's code names it. */
export type CommandErrorCode =
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
  | 'unwritable-file';

/**
 * Something that the person at the command line has to change.
 *
 * @example
 * throw new CommandError('missing-file', 'there is no file "sluice.json"', 'Check the path after --config.');
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: CommandErrorCode;
  /** What to do. */
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
