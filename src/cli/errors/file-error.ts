import { oneLine } from '../../kernel/index.js';
import { CommandError } from './command-error.js';

/** The error of a file that cannot be read. */
export function fileError(cause: unknown, file: string, hint: string): CommandError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT')
    return new CommandError('missing-file', `there is no file "${file}"`, hint, { cause });
  const why = code === 'EISDIR' ? 'it is a folder' : oneLine(cause);
  return new CommandError('unreadable-file', `"${file}" cannot be read: ${why}`, hint, { cause });
}
