import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type JournalReader, readJournal } from '../host/index.js';
import { CommandError } from './command-error.js';
import { readSettings } from './settings.js';
import type { Shell } from './shell.js';

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
 * Opens a journal to read it. A host may be using it meanwhile.
 *
 * @throws CommandError `bad-arguments`, or `missing-file`; SluiceError where it is no journal, or damaged.
 */
export async function openJournalOf(choice: JournalChoice, shell: Shell): Promise<OpenJournal> {
  const path = await journalPath(choice, shell);
  if (!existsSync(path))
    throw new CommandError('missing-file', `there is no journal "${path}"`, 'Check the path.');
  const reader = await readJournal(path);
  return { reader, [Symbol.asyncDispose]: () => reader.close() };
}
