import { resolve } from 'node:path';
import type { DispatchFilter, DispatchRecord, JournalReader } from '@sluice/journal';
import type { Command } from 'commander';
import { badArguments, CommandError } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import { type JournalPlace, readPlace, tendPlace } from '../settings/journal-place.js';
import { readSettings } from '../settings/settings.js';
import { exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';
import { printable } from '../shell/text.js';

/** The options by which a command finds its journal. */
export interface JournalChoice {
  /** Its file; `true` means the one of the config. */
  readonly journal?: string | true;
  /** A config file; `false` reads none. */
  readonly config?: string | false;
  /** Prints lines of JSON, for programs. */
  readonly json?: boolean;
}

/** Adds the options by which a command finds its journal. */
export function addJournalOptions(command: Command): Command {
  return command
    .option('-j, --journal <file>', 'the journal (default: that of the config file)')
    .option('-c, --config <file>', 'the config file that names it')
    .option('--no-config', 'read no config file');
}

/** Adds the argument that says what a command does with a journal, and the options that find it. */
export function addJournalActions<A extends string>(
  command: Command,
  actions: readonly A[],
): Command {
  const inWords = `${actions.slice(0, -1).join(', ')} or ${actions.at(-1)}`;
  return addJournalOptions(command).argument('<action>', inWords, (word: string): A => {
    const action = actions.find((one) => one === word);
    if (action !== undefined) return action;
    throw badArguments(`there is no action "${word}"`, `Actions: ${actions.join(', ')}.`);
  });
}

/**
 * Finds the journal that an option names, or else the config.
 *
 * @throws CommandError `bad-arguments` if neither names one, `missing-file` or `unreadable-file`; the errors of the config.
 */
export async function journalPlace(
  { journal: given, config }: JournalChoice,
  shell: Shell,
): Promise<JournalPlace> {
  const place =
    given === undefined || given === true
      ? (await readSettings(config === undefined ? {} : { config }, shell)).place
      : { path: resolve(shell.cwd, given) };
  if (place === undefined)
    throw badArguments(
      'no journal is named',
      'Name its file by --journal ./sluice.db, or write "journal" into the config file, with a "path" or a "url".',
    );
  if ('url' in place) return place;
  const { path } = place;
  const hint = 'Name the file of --journal, or of journal.path in the config.';
  if (checkFile(path, path, hint, 'journal').isFile()) return place;
  throw new CommandError('unreadable-file', `"${path}" cannot be read: it is no file`, hint);
}

/**
 * Finds the file of the journal, for what is done with a file alone.
 *
 * @throws CommandError as `journalPlace`, and `bad-arguments` if the journal is in no file.
 */
export async function journalFile(choice: JournalChoice, shell: Shell): Promise<string> {
  const place = await journalPlace(choice, shell);
  if ('path' in place) return place.path;
  const { name } = place.kind;
  throw badArguments(
    `the journal is in ${name}, and this is for a file`,
    `${name} looks after its tables itself; its own tools repair and compact them.`,
  );
}

/**
 * Opens a journal to read it. A host may use it meanwhile.
 *
 * @throws CommandError as `journalPlace`; SluiceError if it is no journal, or damaged.
 */
export async function openJournalOf(choice: JournalChoice, shell: Shell) {
  return readPlace(await journalPlace(choice, shell));
}

/** Opens a journal to look after it. A host may use it meanwhile. @throws as `openJournalOf`. */
export async function tendJournalOf(choice: JournalChoice, shell: Shell) {
  return tendPlace(await journalPlace(choice, shell));
}

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads the time after `--since`: a span before now, or a date.
 *
 * @returns milliseconds since 1970.
 * @throws CommandError `bad-arguments`.
 */
export function sinceMsOf(since: string, nowMs: number): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(since) ?? [];
  if (count !== undefined) return nowMs - Number(count) * units[unit as keyof typeof units]; // as the pattern has it
  const ms = /^\d{4}-\d\d-\d\d/.test(since) ? Date.parse(since) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw badArguments(`--since is "${since}"`, 'Write 30m, 2h, 7d, or a date such as 2026-03-15.');
}

/** The error of an id that no dispatch of the journal has. */
export function unknownEvent(id: string): CommandError {
  return new CommandError(
    'unknown-event',
    `the journal has no dispatch of "${printable(id)}"`,
    'Look the id up in the log, as eventId. A dispatch that is older than the journal keeps is gone.',
    { exitCode: exitCodes.failed },
  );
}

/** Dispatches that are read at once. */
const page = 500;

/** Reads all of a journal, a page at a time: it may be larger than memory. */
export async function* allDispatches(
  reader: Pick<JournalReader, 'dispatches'>,
  only: Pick<DispatchFilter, 'eventId' | 'family'> = {},
): AsyncGenerator<DispatchRecord> {
  for (let afterSeq: number | undefined = 0; afterSeq !== undefined; ) {
    const some: readonly DispatchRecord[] = await reader.dispatches({
      ...only,
      afterSeq,
      limit: page,
    });
    yield* some;
    afterSeq = some.length < page ? undefined : some.at(-1)?.seq;
  }
}
