import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  type DispatchFilter,
  type DispatchRecord,
  type JournalReader,
  readJournal,
} from '../../host/index.js';
import { badArguments, CommandError } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import { readSettings } from '../settings/settings.js';
import type { Shell } from '../shell/shell.js';

/** The options by which a command finds its journal. */
export interface JournalChoice {
  readonly journal?: string;
  /** A config file; `false` reads none. */
  readonly config?: string | false;
}

/** Adds the options by which a command finds its journal. */
export function addJournalOptions(command: Command): Command {
  return command
    .option('-j, --journal <file>', 'the journal (default: journal.path of the config file)')
    .option('-c, --config <file>', 'the config file that names it')
    .option('--no-config', 'read no config file');
}

/**
 * Finds the file of the journal that an option names, or else the config.
 *
 * @throws CommandError `bad-arguments` if neither names one, `missing-file` or `unreadable-file`; the errors of the config.
 */
export async function journalFile(
  { journal: given, config }: JournalChoice,
  shell: Shell,
): Promise<string> {
  const path =
    given === undefined
      ? (await readSettings(config === undefined ? {} : { config }, shell)).journal?.path
      : resolve(shell.cwd, given);
  if (path === undefined)
    throw badArguments(
      'no journal is named',
      'Name its file: --journal ./sluice.db, or journal.path in the config file.',
    );
  const hint = 'Name the file of --journal, or of journal.path in the config.';
  if (checkFile(path, path, hint, 'journal').isFile()) return path;
  throw new CommandError('unreadable-file', `"${path}" cannot be read: it is no file`, hint);
}

/**
 * Opens a journal to read it. A host may use it meanwhile.
 *
 * @throws CommandError as `journalFile`; SluiceError if the file is no journal, or damaged.
 */
export async function openJournalOf(
  choice: JournalChoice,
  shell: Shell,
): ReturnType<typeof readJournal> {
  return readJournal(await journalFile(choice, shell));
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

/** Dispatches that are read at once. */
const page = 500;

/** Reads all of a journal, a page at a time: it may be larger than memory. */
export async function* allDispatches(
  reader: JournalReader,
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
