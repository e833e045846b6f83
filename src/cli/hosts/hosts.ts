import { digestOf } from '@sluice/journal/internal';
import { badArguments } from '../errors/command-error.js';
import { type JournalChoice, journalPlace } from '../journal/journal-of.js';
import { printData } from '../print/print-data.js';
import { kindNames } from '../settings/journal-place.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, span } from '../shell/text.js';

const help = `
A line for each host, the oldest first: since when it runs, the time until its lease ends
if it is not renewed, its partitions, and their accepted messages that it has not begun.
Hosts with the same digest have the same config and the same extensions; \`sluice doctor\`
names the differences.

Examples:
  $ sluice hosts
  $ sluice hosts --config ./sluice.config.ts --json`;

/** Adds `sluice hosts`, which lists the hosts that share a journal. */
export const addCommand: AddCommand = (command, shell, done) => {
  command
    .option('-c, --config <file>', 'the config file that names the journal')
    .option('--json', 'print a line of JSON per host')
    .addHelpText('after', help)
    .action(async (options: JournalChoice) => done(await hosts(options, shell)));
};

async function hosts(options: JournalChoice, shell: Shell): Promise<ExitCode> {
  const place = await journalPlace(options, shell);
  if ('path' in place)
    throw badArguments(
      'the journal is in a file, which one host has',
      `Hosts share a journal in ${kindNames(shell.journals)}: \`journal.url\` of the config.`,
    );
  const found = (await place.kind.hosts(place)).map((host) => ({
    ...host,
    digest: digestOf(Object.entries(host.about).sort()).slice(0, 16),
  }));
  printData(shell, options, found, () =>
    found.map(
      ({ hostId, sinceMs, leaseForMs, parts: partitions, waiting, oldestWaitingMs, digest }) =>
        [
          ...[hostId, `since ${new Date(sinceMs).toISOString()}`],
          leaseForMs > 0 ? `lease for ${span(leaseForMs)}` : 'its lease has ended',
          counted(partitions.length, 'partition', 'partitions'),
          `${counted(waiting, 'message waits', 'messages wait')}, for ${span(oldestWaitingMs)}`,
          `digest ${digest}`,
        ].join('  '),
    ),
  );
  if (found.length === 0) shell.stderr.lines(['sluice: no host has this journal']);
  return exitCodes.ok;
}
