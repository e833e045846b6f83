import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { oneLine } from 'sluice-kernel/internal';
import { CommandError } from '../errors/command-error.js';
import { cureOf } from '../errors/file-error.js';
import { exitCodes } from '../shell/exit-codes.js';

/**
 * Writes a file that a person asked for, and the folders above it.
 *
 * @throws CommandError (as a rejection) `unwritable-file`.
 */
export async function writeTextFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** The error of a file that cannot be written. */
export function unwritable(path: string, cause: unknown): CommandError {
  const what = `"${path}" cannot be written: ${oneLine(cause)}`;
  const exitCode = exitCodes.failed;
  return new CommandError('unwritable-file', what, cureOf(cause), { cause, exitCode });
}
