import { cloudEventOf, type FollowOptions, followJournal } from '@sluice/host';
import type { EntryKind } from '@sluice/journal';
import { entryKinds } from '@sluice/journal/internal';
import { Option } from 'commander';
import { definedFields, isSluiceError } from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { addJournalOptions, type JournalChoice, journalPlace } from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { type JournalPlace, readPlace, tendPlace } from '../settings/journal-place.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';

interface EventsOptions extends JournalChoice {
  readonly follow?: boolean;
  readonly consumer?: string;
  readonly from?: string;
  readonly kind?: readonly EntryKind[];
  readonly source: string;
}

const help = `
A line of JSON each, as CloudEvents 1.0: what was taken in, begun and ended, each stage,
each send with its attempts, the questions. Records that are missing, since they are older
than the journal keeps or could not be written, show as sluice.gap with their number.

A consumer has a name, and the journal keeps how far it has come: it gets each event at
least once, also if this command is stopped or killed. Without one, --from says where to
begin: the "sequence" of the last event that you have, or now. A host may run meanwhile.

Examples:
  $ sluice events --journal ./sluice.db --kind send
  $ sluice events --follow --consumer billing | ./book-each-line
  $ sluice events --follow --from now`;

/** Adds `sluice events`, which prints the entries of a journal for other programs. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalOptions(command, 'print lines of JSON, as it always does')
    .option('-f, --follow', 'wait for more, until Ctrl-C')
    .addOption(
      new Option('--consumer <name>', 'go on where this consumer was the last time').conflicts(
        'from',
      ),
    )
    .option('--from <sequence>', 'only what comes after this event; "now" for what is to come')
    .addOption(new Option('--kind <kinds...>', 'only events of these kinds').choices(entryKinds))
    .option('--source <uri>', 'the source that the events name', '/sluice')
    .addHelpText('after', help)
    .action(async (options: EventsOptions) => done(await events(options, shell)));
};

async function events(options: EventsOptions, shell: Shell): Promise<ExitCode> {
  const { follow = false, consumer, from, kind: kinds, source } = options;
  const { stdout } = shell;
  const place = await journalPlace(options, shell);
  const how = { follow, signal: shell.takeStop(), ...definedFields({ from, kinds }) };
  const { records, close } = await recordsOf(place, how, consumer);
  await using _journal = { [Symbol.asyncDispose]: close };
  try {
    for await (const record of records) {
      if (stdout.gone.aborted) break; // the last event may not have been read: it comes again
      await stdout.write(`${jsonLine(cloudEventOf(record, source))}\n`);
    }
  } catch (error) {
    if (stdout.gone.aborted) return exitCodes.ok;
    if (!isSluiceError(error, 'bad-option')) throw error;
    throw badArguments(error.message, 'Take the "sequence" of an event, or another name.');
  }
  return exitCodes.ok;
}

async function recordsOf(place: JournalPlace, how: FollowOptions, consumer: string | undefined) {
  if (consumer === undefined) {
    const reader = await readPlace(place);
    return { records: followJournal(reader, how), close: () => reader.close() };
  }
  const journal = await tendPlace(place);
  return { records: followJournal(journal, { ...how, consumer }), close: () => journal.close() };
}
