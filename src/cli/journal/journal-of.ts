import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type JournalReader, readJournal } from '../../host/index.js';
import { CommandError } from '../errors/command-error.js';
import { readSettings } from '../settings/settings.js';
import type { Shell } from '../shell/shell.js';

/** How a command is told which journal it is about. */
export interface JournalChoice {
  readonly journal?: string;
  /** A config file, or `false` where none is to be looked for. */
  readonly config?: string | false;
}

/** A journal that a command reads. */
export interface OpenJournal extends AsyncDisposable {
  readonly reader: JournalReader;
}

/**
 * The path of the journal that an option names, or else the config.
 *
 * @throws CommandError `bad-arguments` where neither does, and what reading the config throws.
 */
export async function journalPath(
  { journal: given, config }: JournalChoice,
  shell: Shell,
): Promise<string> {
  if (given !== undefined) return resolve(shell.cwd, given);
  const settings = await readSettings(config === undefined ? {} : { config }, shell);
  if (settings.journal !== undefined) return settings.journal.path;
  throw new CommandError(
    'bad-arguments',
    'no journal is named',
    'Name its file: --journal ./sluice.db, or journal.path in the config file.',
  );
}

/**
 * The path of a journal that is there.
 *
 * @throws CommandError `missing-file` or `unreadable-file`, and what `journalPath` throws.
 */
export async function journalFile(choice: JournalChoice, shell: Shell): Promise<string> {
  const path = await journalPath(choice, shell);
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry?.isFile() === true) return path;
  const hint = 'Name the file of --journal, or of journal.path in the config.';
  if (entry === undefined)
    throw new CommandError('missing-file', `there is no journal "${path}"`, hint);
  throw new CommandError('unreadable-file', `"${path}" is no file`, hint);
}

/**
 * Opens a journal to read it. A host may be using it meanwhile.
 *
 * @throws CommandError `bad-arguments`, or `missing-file`; SluiceError where it is no journal, or damaged.
 */
export async function openJournalOf(choice: JournalChoice, shell: Shell): Promise<OpenJournal> {
  const reader = await readJournal(await journalFile(choice, shell));
  return { reader, [Symbol.asyncDispose]: () => reader.close() };
}
