import type { SendRecord, TendedJournal, UpdateRecord } from '@sluice/journal';
import { compactJournal, repairJournal } from '@sluice/journal/internal';
import { Option } from 'commander';
import { definedFields, inertJson } from 'sluice-kernel/internal';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { withProgress } from '../print/progress-bar.js';
import { type Answer, resource } from '../resource/resource.js';
import { placeName } from '../settings/journal-place.js';
import { counted, printable } from '../shell/text.js';
import { backup, inPlace, restore } from './backup.js';
import { type ForgetOptions, forget } from './forget.js';
import {
  journalFile,
  journalOptions,
  journalPlace,
  reading,
  sinceMsOf,
  tending,
} from './journal-of.js';
import { sendLine, updateLine } from './record-lines.js';

const states = ['accepted', 'handling', 'ended', 'dead'] as const;

interface JournalOptions extends ForgetOptions {
  readonly state?: (typeof states)[number];
  readonly since?: string;
  readonly limit: string;
  readonly sends?: boolean;
  readonly all?: boolean;
}

const help = `
list and show read past what is damaged, name it on stderr, and end with exit code 1.

A message is accepted, handling, ended or dead. A dead letter could not be handled: it was
begun too often without coming to an end, or it failed. spec/durability.md says more.

Examples:
  $ sluice journal list --journal ./sluice.db --state dead
  $ sluice journal list --since 2h --json
  $ sluice journal migrate --config ./sluice.config.ts
  $ sluice journal show u-53d0e8f1c2a94b7d8e6f5a4b3c2d1e0f
  $ sluice journal retry u-53d0e8f1c2a94b7d8e6f5a4b3c2d1e0f
  $ sluice journal forget --sender 4711 --dry-run
  $ sluice journal forget --conversation console:-1001234
  $ sluice journal backup /var/backups/sluice-2026-03-15.db
  $ sluice journal restore /var/backups/sluice-2026-03-15.db`;

/** Adds `sluice journal`, which shows the messages and sends of a host, and looks after its dead letters. */
export const addCommand = resource<JournalOptions>({
  options: journalOptions('print a line of JSON per entry'),
  actions: {
    list: {
      summary: 'the messages that were taken in, oldest first: where each is, and why',
      options: [
        new Option('--state <state>', 'only what is in this state').choices(states),
        new Option('--since <when>', 'only what came since: 30m, 2h, 7d, or a date'),
        new Option('--limit <number>', 'at most so many').default('1000'),
        new Option('--sends', 'list what was sent, instead of what came in'),
      ],
      work: reading(async ({ journal, options }) => {
        const { state, since, limit: most, sends } = options;
        const limit = Number(most);
        if (!Number.isSafeInteger(limit) || limit < 1)
          throw badArguments(`--limit is "${most}"`, 'Write a number from 1 up.');
        const filter = {
          limit,
          ...(since !== undefined && { sinceMs: sinceMsOf(since, Date.now()) }),
        };
        if (sends === true) {
          const data = await journal.sends(filter);
          return { data, lines: () => data.map(sendLine) };
        }
        const data = await journal.updates({ ...filter, ...(state && { states: [state] }) });
        return { data, lines: () => data.map(updateLine) };
      }),
    },
    'show <id>': {
      summary: 'one message: its sends, and the stages that it went through',
      work: reading(async ({ journal, args: [id = ''] }) => {
        const [update] = await journal.updates({ eventId: id });
        if (update === undefined) throw unknownId(id);
        const sends = await journal.sends({ correlationId: id });
        const found = await journal.dispatches({ correlationId: id, limit: 10_000 });
        const dispatches = found.map(({ eventId, family, status }) => ({
          eventId,
          family,
          status,
        }));
        return {
          data: [{ ...update, sends, dispatches }],
          lines: () => [
            updateLine(update),
            ...(update.body === undefined ? [] : [`  body: ${inertJson(update.body)}`]),
            ...sendLines(update, sends).map((line) => `  ${line}`),
            ...dispatches.map(
              ({ eventId, family, status }) => `  ${eventId}  ${family}  ${status}`,
            ),
          ],
        };
      }),
    },
    'retry <id>': {
      summary: 'have a dead letter handled again, by the host that runs or by the next',
      work: tending(async ({ journal: open, args: [id = ''] }) => {
        const isDone = await open.retry(id);
        return isDone ? told(`${id} will be handled again`) : notDead(open, id);
      }),
    },
    'purge [id]': {
      summary: 'drop a dead letter, or every one of them',
      options: [new Option('--all', 'every dead letter')],
      work: tending(async ({ journal: open, args: [id], options }) => {
        if (id !== undefined)
          return (await open.purge(id)) > 0 ? told(`${id} is dropped`) : notDead(open, id);
        if (options.all !== true)
          throw badArguments('purge needs the id of a message', 'See `sluice journal list`.');
        return told(`${counted(await open.purge(), 'dead letter is', 'dead letters are')} dropped`);
      }),
    },
    forget,
    'compact [file]': {
      summary:
        'write the file anew without its free pages, while no host uses it: a file of an early version of Sluice does not shrink by itself',
      work: async ({ args: [journal], options, shell }) => {
        const path = await journalFile({ ...options, ...definedFields({ journal }) }, shell);
        const report = await inPlace({ what: 'compacted', to: path, options, shell }, (stop) =>
          compactJournal(path, stop),
        );
        const { bytesBefore, bytesAfter } = report;
        return {
          data: [{ journal: path, ...report }],
          lines: () => [`${path}: ${bytesBefore} bytes before, ${bytesAfter} bytes after`],
        };
      },
    },
    'backup <file>': backup,
    'restore <file>': restore,
    repair: {
      summary:
        'make a damaged journal usable again, while no host uses it: the good rows stay, the others go to a file beside it, and so does a copy of it all',
      work: async ({ options, shell }) => {
        const path = await journalFile(options, shell);
        const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
        const report = await inPlace({ what: 'repaired', to: path, options, shell }, (stop) =>
          repairJournal(path, stamp, stop),
        );
        const { status, problems, kept, moved, sideFile, copy } = report;
        const lines =
          status === 'well'
            ? [`${path} is well: nothing was done`]
            : [
                ...problems.map((problem) => printable(`damaged: ${problem}`)),
                `${counted(kept, 'row is', 'rows are')} kept, ${moved} moved${sideFile === undefined ? '' : ` to ${sideFile}`}`,
                `the journal as it was: ${copy}`,
              ];
        return { data: [report], lines: () => lines };
      },
    },
    migrate: {
      summary: 'make the tables of a journal in PostgreSQL',
      work: async ({ options, shell }) => {
        const place = await journalPlace(options, shell);
        if ('path' in place)
          throw badArguments(
            'the journal is in a file, which has no tables to make',
            'The host that opens a file makes it itself.',
          );
        const made = () => place.kind.migrate(place);
        const { from, to } = await withProgress(shell, options, 'making the tables', made);
        const journal = placeName(place);
        return {
          data: [{ journal, from, to }],
          lines: () => [`${journal} has version ${to} ${from === to ? 'already' : 'now'}`],
        };
      },
    },
  },
  help,
});

function told(result: string): Answer {
  return { data: [{ result }], lines: () => [result] };
}

async function notDead(open: TendedJournal, id: string): Promise<never> {
  const [update] = await open.updates({ eventId: id });
  if (update === undefined) throw unknownId(id);
  throw badArguments(
    `${id} is no dead letter: it is ${update.state}`,
    'See `sluice journal list --state dead`.',
  );
}

function unknownId(id: string): CommandError {
  return badArguments(
    `the journal has no message ${id}`,
    'See `sluice journal list`; what is older than the journal keeps is gone.',
  );
}

/** Writes the sends of an update, a line each. If an operator had it tried again, a mark follows the sends before that. */
function sendLines(
  { retriedAfterSeq }: UpdateRecord,
  sends: readonly SendRecord[],
): readonly string[] {
  if (retriedAfterSeq === undefined) return sends.map(sendLine);
  const before = sends.filter(({ seq }) => seq <= retriedAfterSeq);
  const since = sends.filter(({ seq }) => seq > retriedAfterSeq);
  const mark = 'tried again by an operator: no send above is its answer';
  return [...before.map(sendLine), mark, ...since.map(sendLine)];
}
