import { resolve } from 'node:path';
import type { DispatchFilter, DispatchRecord, JournalReader, TendedJournal } from '@sluice/journal';
import { damageLine } from '@sluice/journal/internal';
import { type Command, Option } from 'commander';
import { badArguments, CommandError } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import type { Action, Answer, Given } from '../resource/resource.js';
import { type JournalPlace, placeName, readPlace, tendPlace } from '../settings/journal-place.js';
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

/** The options by which a command finds its journal, and the one that has it print JSON. */
export function journalOptions(json: string): readonly Option[] {
  return [
    new Option('-j, --journal <file>', 'the journal (default: that of the config file)'),
    new Option('-c, --config <file>', 'the config file that names it'),
    new Option('--no-config', 'read no config file'),
    new Option('--json', json),
  ];
}

/** Adds the options by which a command finds its journal. */
export function addJournalOptions(command: Command, json: string): Command {
  for (const option of journalOptions(json)) command.addOption(option);
  return command;
}

/**
 * Finds the journal that an option names, or else the config.
 *
 * @throws CommandError `bad-arguments` if neither names one, `missing-file` or `unreadable-file`; the errors of the config.
 */
export async function journalPlace(choice: JournalChoice, shell: Shell): Promise<JournalPlace> {
  const place = await namedPlace(choice, shell);
  if ('url' in place) return place;
  const { path } = place;
  const hint = 'Name the file of --journal, or of journal.path in the config.';
  if (checkFile(path, path, hint, 'journal').isFile()) return place;
  throw new CommandError('unreadable-file', `"${path}" cannot be read: it is no file`, hint);
}

/** The place that an option names, or else the config; a file need not be there. */
async function namedPlace(
  { journal: given, config }: JournalChoice,
  shell: Shell,
): Promise<JournalPlace> {
  const place =
    given === undefined || given === true
      ? (await readSettings(config === undefined ? {} : { config }, shell)).place
      : { path: resolve(shell.cwd, given) };
  if (place !== undefined) return place;
  throw badArguments(
    'no journal is named',
    'Name its file by --journal ./sluice.db, or write "journal" into the config file, with a "path" or a "url".',
  );
}

/**
 * Finds the file of the journal, for what is done with a file alone.
 *
 * @param mayBeNew it need not be there.
 * @throws CommandError as `journalPlace`, and `bad-arguments` if the journal is in no file.
 */
export async function journalFile(
  choice: JournalChoice,
  shell: Shell,
  mayBeNew = false,
): Promise<string> {
  const place = await (mayBeNew ? namedPlace : journalPlace)(choice, shell);
  if ('path' in place) return place.path;
  const { name } = place.kind;
  throw badArguments(
    `the journal is in ${name}, and this is for a file`,
    `${name} looks after its tables itself: its own tools repair, compact, copy and restore them, such as pg_dump.`,
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

/**
 * Makes the work of an action that reads a journal past its damaged rows, and names each damage once on stderr. A host may use
 * it meanwhile.
 *
 * @throws as `openJournalOf`.
 */
export function reading<O extends JournalChoice>(
  work: (given: Given<O> & { readonly journal: JournalReader }) => Promise<Answer>,
): Action<O>['work'] {
  return async (given) => {
    const { options, shell } = given;
    const place = await journalPlace(options, shell);
    const damages = new Set<string>();
    try {
      await using journal = await readPlace(place, {
        onDamaged: (damage) => damages.add(damageLine(damage)),
      });
      const answer = await work({ ...given, journal });
      return { ...answer, code: damages.size === 0 ? exitCodes.ok : exitCodes.failed };
    } finally {
      const name = placeName(place);
      const cure = 'It is left out here. Stop the host, and run `sluice journal repair`.';
      shell.stderr.lines(
        [...damages].map((damage) =>
          printable(`sluice: database-damaged: ${name}: ${damage}. ${cure}`),
        ),
      );
    }
  };
}

/** Makes the work of an action that looks after a journal. A host may use it meanwhile. @throws as `openJournalOf`. */
export function tending<O extends JournalChoice>(
  work: (given: Given<O> & { readonly journal: TendedJournal }) => Promise<Answer>,
): Action<O>['work'] {
  return async (given) => {
    await using journal = await tendPlace(await journalPlace(given.options, given.shell));
    return await work({ ...given, journal });
  };
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
