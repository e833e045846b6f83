import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type JournalReader, readJournal } from '../host/index.js';
import { CommandError } from './command-error.js';
import type { Shell } from './shell.js';

/** A journal that a command reads. */
export interface OpenJournal extends AsyncDisposable {
  readonly reader: JournalReader;
  /** Its path, as it was named. */
  readonly file: string;
}

/**
 * Opens the journal that `--journal` names, to read it. A host may be using it meanwhile.
 *
 * @throws CommandError `bad-arguments` where none is named, `missing-file` where it is not there; SluiceError where it is no journal.
 */
export async function openJournalOf(
  file: string | undefined,
  { cwd }: Pick<Shell, 'cwd'>,
): Promise<OpenJournal> {
  if (file === undefined)
    throw new CommandError('bad-arguments', 'no journal was named', 'Give its file by --journal.');
  const path = resolve(cwd, file);
  if (!existsSync(path))
    throw new CommandError('missing-file', `there is no journal "${file}"`, 'Check the path.');
  const reader = await readJournal(path);
  return { reader, file, [Symbol.asyncDispose]: () => reader.close() };
}
