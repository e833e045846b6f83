import type { JournalReader, TendedJournal } from '@sluice/journal';
import { compactJournal, damageLine, repairJournal } from '@sluice/journal/internal';
import { Option } from 'commander';
import { inertJson } from 'sluice-kernel/internal';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { printData } from '../print/print-data.js';
import { placeName, readPlace } from '../settings/journal-place.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';
import { sendLine, sendLines, updateLine } from './journal-lines.js';
import {
  addJournalActions,
  type JournalChoice,
  journalFile,
  journalPlace,
  sinceMsOf,
  tendJournalOf,
} from './journal-of.js';

const actions = ['list', 'show', 'retry', 'purge', 'compact', 'repair', 'migrate'] as const;
type Action = (typeof actions)[number];
const states = ['accepted', 'handling', 'ended', 'dead'] as const;

interface JournalOptions extends JournalChoice {
  readonly state?: (typeof states)[number];
  readonly since?: string;
  readonly limit: string;
  readonly sends?: boolean;
  readonly all?: boolean;
}

const help = `
Actions:
  list         the messages that were taken in, oldest first: where each is, and why
  show ID      one message: its sends, and the stages that it went through
  retry ID     have a dead letter handled again, by the host that runs or by the next
  purge ID     drop a dead letter; with --all every one of them
  compact [FILE]
               write the file anew without its free pages, while no host uses it: a file
               of an early version of Sluice does not shrink by itself
  repair       make a damaged journal usable again, while no host uses it: the good rows
               stay, the others go to a file beside it, and so does a copy of it all
  migrate      make the tables of a journal in PostgreSQL, or those of this version

list and show read past what is damaged, name it on stderr, and end with exit code 1.

A message is accepted, handling, ended or dead. A dead letter could not be handled: it was
begun too often without coming to an end, or it failed. spec/durability.md says more.

Examples:
  $ sluice journal list --journal ./sluice.db --state dead
  $ sluice journal list --since 2h --json
  $ sluice journal migrate --config ./sluice.config.ts
  $ sluice journal show u-53d0e8f1c2a94b7d8e6f5a4b3c2d1e0f
  $ sluice journal retry u-53d0e8f1c2a94b7d8e6f5a4b3c2d1e0f`;

/** Adds `sluice journal`, which shows the messages and sends of a host, and looks after its dead letters. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalActions(command, actions)
    .argument('[id]', 'the id of a message, as list shows it; with compact: the journal')
    .addOption(new Option('--state <state>', 'only what is in this state').choices(states))
    .option('--since <when>', 'only what came since: 30m, 2h, 7d, or a date such as 2026-03-15')
    .option('--limit <number>', 'at most so many', '1000')
    .option('--sends', 'list what was sent, instead of what came in')
    .option('--all', 'with purge: every dead letter')
    .option('--json', 'print a line of JSON per entry')
    .addHelpText('after', help)
    .action(async (action: Action, id: string | undefined, options: JournalOptions) =>
      done(await journal(action, id, options, shell)),
    );
};

async function journal(
  action: Action,
  id: string | undefined,
  options: JournalOptions,
  shell: Shell,
): Promise<ExitCode> {
  if (action === 'list') return list(options, shell);
  if (action === 'repair') return repair(options, shell);
  if (action === 'migrate') return migrate(options, shell);
  if (action === 'compact')
    return compact(id === undefined ? options : { ...options, journal: id }, shell);
  if (action === 'purge' && id === undefined && options.all === true)
    return tend(options, shell, async (open) => {
      const purged = await open.purge();
      return `${counted(purged, 'dead letter is', 'dead letters are')} dropped`;
    });
  if (id === undefined)
    throw badArguments(`${action} needs the id of a message`, 'See `sluice journal list`.');
  if (action === 'show') return show(id, options, shell);
  return tend(options, shell, (open) => tendOne(open, action, id));
}

async function list(options: JournalOptions, shell: Shell): Promise<ExitCode> {
  const { state, since, limit: most, sends } = options;
  const limit = Number(most);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw badArguments(`--limit is "${most}"`, 'Write a number from 1 up.');
  const filter = { limit, ...(since !== undefined && { sinceMs: sinceMsOf(since, Date.now()) }) };
  return readPast(options, shell, async (reader) => {
    const states = state === undefined ? {} : { states: [state] };
    if (sends === true) {
      const found = await reader.sends(filter);
      printData(shell, options, found, () => found.map(sendLine));
    } else {
      const found = await reader.updates({ ...filter, ...states });
      printData(shell, options, found, () => found.map(updateLine));
    }
  });
}

async function show(id: string, options: JournalOptions, shell: Shell): Promise<ExitCode> {
  return readPast(options, shell, async (reader) => {
    const [update] = await reader.updates({ eventId: id });
    if (update === undefined) throw unknownId(id);
    const sends = await reader.sends({ correlationId: id });
    const dispatches = await reader.dispatches({ correlationId: id, limit: 10_000 });
    const stages = dispatches.map(({ eventId, family, status }) => ({ eventId, family, status }));
    printData(shell, options, [{ ...update, sends, dispatches: stages }], () => [
      updateLine(update),
      ...(update.body === undefined ? [] : [`  body: ${inertJson(update.body)}`]),
      ...sendLines(update, sends).map((line) => `  ${line}`),
      ...stages.map(({ eventId, family, status }) => `  ${eventId}  ${family}  ${status}`),
    ]);
  });
}

/** Reads a journal past its damaged rows, and names each damage once on stderr. */
async function readPast(
  options: JournalOptions,
  shell: Shell,
  read: (reader: JournalReader) => Promise<void>,
): Promise<ExitCode> {
  const place = await journalPlace(options, shell);
  const damages = new Set<string>();
  try {
    await using reader = await readPlace(place, {
      onDamaged: (damage) => damages.add(damageLine(damage)),
    });
    await read(reader);
  } finally {
    shell.stderr.lines(
      [...damages].map((damage) =>
        printable(
          `sluice: database-damaged: ${placeName(place)}: ${damage}. It is left out here. Stop the host, and run \`sluice journal repair\`.`,
        ),
      ),
    );
  }
  return damages.size === 0 ? exitCodes.ok : exitCodes.failed;
}

async function compact(options: JournalOptions, shell: Shell): Promise<ExitCode> {
  const path = await journalFile(options, shell);
  const report = compactJournal(path);
  const { bytesBefore, bytesAfter } = report;
  printData(shell, options, [{ journal: path, ...report }], () => [
    `${path}: ${bytesBefore} bytes before, ${bytesAfter} bytes after`,
  ]);
  return exitCodes.ok;
}

async function migrate(options: JournalOptions, shell: Shell): Promise<ExitCode> {
  const place = await journalPlace(options, shell);
  if ('path' in place)
    throw badArguments(
      'the journal is in a file, which has no tables to make',
      'The host that opens a file brings it up to its version itself.',
    );
  const { from, to } = await place.kind.migrate(place);
  const journal = placeName(place);
  printData(shell, options, [{ journal, from, to }], () => [
    `${journal} has version ${to} ${from === to ? 'already' : 'now'}`,
  ]);
  return exitCodes.ok;
}

async function repair(options: JournalOptions, shell: Shell): Promise<ExitCode> {
  const path = await journalFile(options, shell);
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const report = repairJournal(path, stamp);
  const { problems, kept, moved, sideFile, copy } = report;
  printData(shell, options, [report], () =>
    report.status === 'well'
      ? [`${path} is well: nothing was done`]
      : [
          ...problems.map((problem) => printable(`damaged: ${problem}`)),
          `${counted(kept, 'row is', 'rows are')} kept, ${moved} moved${sideFile === undefined ? '' : ` to ${sideFile}`}`,
          `the journal as it was: ${copy}`,
        ],
  );
  return exitCodes.ok;
}

async function tendOne(
  open: TendedJournal,
  action: 'retry' | 'purge',
  id: string,
): Promise<string> {
  const [update] = await open.updates({ eventId: id });
  if (update === undefined) throw unknownId(id);
  const isDone = action === 'retry' ? await open.retry(id) : (await open.purge(id)) > 0;
  if (isDone) return action === 'retry' ? `${id} will be handled again` : `${id} is dropped`;
  throw badArguments(
    `${id} is no dead letter: it is ${update.state}`,
    'See `sluice journal list --state dead`.',
  );
}

async function tend(
  options: JournalOptions,
  shell: Shell,
  work: (open: TendedJournal) => Promise<string>,
): Promise<ExitCode> {
  await using open = await tendJournalOf(options, shell);
  const result = await work(open);
  printData(shell, options, [{ result }], () => [result]);
  return exitCodes.ok;
}

function unknownId(id: string): CommandError {
  return badArguments(
    `the journal has no message ${id}`,
    'See `sluice journal list`; what is older than the journal keeps is gone.',
  );
}
