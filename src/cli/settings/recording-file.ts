import { createReadStream, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { thisCopy } from '@sluice/sdk/extension/internal';
import { readLines } from '@sluice/sdk/stream';
import { CommandError } from '../errors/command-error.js';
import { checkFile, fileError } from '../errors/file-error.js';
import { exitCodes } from '../shell/exit-codes.js';
import type { MalformedLine, Shell } from '../shell/shell.js';

const hint = 'Name a file with one JSON message a line, or - for stdin.';

/** The recording that comes with this package, by the name `example`. */
const example = join(thisCopy.folder, 'test/fixtures/claude-stream/thinking-text-tool.jsonl');

/** Resolves the path of a recording: `example` is the recording of this package, unless a file has that name. */
export function recordingPath(file: string, folder: string): string {
  const path = resolve(folder, file);
  return file === 'example' && !existsSync(path) ? example : path;
}

/**
 * Looks for a recording before anything runs.
 *
 * @throws CommandError `missing-file` or `unreadable-file`.
 */
export function checkRecording(file: string, cwd: string): void {
  if (file !== '-') checkFile(recordingPath(file, cwd), file, hint);
}

/**
 * Reads the lines of a recording as a stream.
 *
 * @throws CommandError `unreadable-file` if reading fails on the way.
 */
export async function* recordingLines(
  file: string,
  { stdin, stdout, cwd }: Pick<Shell, 'stdin' | 'stdout' | 'cwd'>,
): AsyncGenerator<string> {
  const chunks = file === '-' ? stdin : createReadStream(recordingPath(file, cwd));
  try {
    for await (const line of readLines(chunks)) {
      yield line;
      await stdout.flush(); // waits for the reader of the output, so that a slow one fills no memory
    }
  } catch (thrown) {
    const { code, message, hint: fix } = fileError(thrown, nameOf(file), hint);
    throw new CommandError(code, message, fix, { cause: thrown, exitCode: exitCodes.failed });
  }
}

function nameOf(file: string): string {
  return file === '-' ? 'stdin' : file;
}

/** Makes the error of a line that holds no message. */
export function lineError(file: string, { number, problem }: MalformedLine): CommandError {
  return new CommandError(
    'bad-line',
    `${nameOf(file)}, line ${number}: ${problem}`,
    'The rest is read on.',
    { exitCode: exitCodes.failed },
  );
}
