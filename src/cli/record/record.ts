import { resolve } from 'node:path';
import { exportRecord, readStatements, rotateKey, signNext } from '@sluice/journal/internal';
import { Option } from 'commander';
import { badArguments } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import {
  type JournalChoice,
  journalOptions,
  journalPlace,
  sinceMsOf,
} from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { type Answer, type Given, resource } from '../resource/resource.js';
import { readPlace, tendPlace } from '../settings/journal-place.js';
import { readSettings } from '../settings/settings.js';
import { enveloped } from './verify.js';

interface RecordOptions extends JournalChoice {
  readonly since?: string;
  readonly format: 'jsonl' | 'cloudevents';
  readonly source: string;
  readonly key?: string;
}

const help = `
The record is that of a journal whose config has journal.record; docs/record.md says what
it proves. \`sluice verify\` looks at it, and at a file that export has written.

Examples:
  $ sluice record checkpoint >> /mnt/elsewhere/checkpoints.jsonl
  $ sluice record export --since 7d > record.jsonl
  $ sluice record export --format cloudevents --source /sluice/main
  $ sluice record rotate`;

/** Adds `sluice record`, which takes out of a journal what proves its record. */
export const addCommand = resource<RecordOptions>({
  options: journalOptions('print lines of JSON'),
  actions: {
    checkpoint: {
      summary: 'print the last checkpoint, to keep it elsewhere: a line of JSON',
      work: async ({ options, shell }) => {
        await using journal = await readPlace(await journalPlace(options, shell));
        const last = (await readStatements(journal.keyValues)).checkpoints.at(-1);
        if (last === undefined)
          throw badArguments(
            'the journal has no checkpoint',
            'Write "record" into "journal" of the config. A host signs the first one a minute after its first record, and when it stops.',
          );
        return { data: [last], lines: () => [jsonLine(last)] };
      },
    },
    rotate: {
      summary:
        'make a new key for the host, which the old one signs; a host that runs takes it with its next checkpoint',
      options: [
        new Option('--key <file>', 'the key of the host (default: that of the config file)'),
      ],
      work: rotate,
    },
    export: {
      summary: 'print the record with its checkpoints: enough to verify it without the journal',
      options: [
        new Option(
          '--since <when>',
          'only from the last checkpoint before that: 30m, 2h, 7d, or a date',
        ),
        new Option('--format <format>', 'lines of JSON, or CloudEvents 1.0')
          .choices(['jsonl', 'cloudevents'])
          .default('jsonl'),
        new Option('--source <uri>', 'the source that CloudEvents name').default('/sluice'),
      ],
      work: exportLines,
    },
  },
  help,
});

async function exportLines({ options, shell }: Given<RecordOptions>): Promise<Answer> {
  const { since, format, source } = options;
  const { stdout } = shell;
  const sinceMs = since === undefined ? undefined : sinceMsOf(since, Date.now());
  const place = await journalPlace(options, shell);
  await using journal = await readPlace(place);
  for await (const line of exportRecord(journal, 'path' in place, sinceMs)) {
    if (stdout.gone.aborted) break;
    await stdout.write(`${jsonLine(format === 'jsonl' ? line : enveloped(line, source))}\n`);
  }
  return { data: [], lines: () => [] };
}

async function rotate({ options, shell }: Given<RecordOptions>): Promise<Answer> {
  const place = await journalPlace(options, shell);
  const path =
    options.key === undefined ? await keyOfConfig(options, shell) : resolve(shell.cwd, options.key);
  checkFile(path, path, 'Name the key of the host by --key: there is none before a host has run.');
  await using journal = await tendPlace(place);
  const { id } = await rotateKey(path, (old, next) =>
    signNext(journal.keyValues, old, next, Date.now()),
  );
  return { data: [{ key: path, public: id }], lines: () => [`${path} has a new key: ${id}`] };
}

async function keyOfConfig(
  { config }: RecordOptions,
  shell: Given<RecordOptions>['shell'],
): Promise<string> {
  const { journal } = await readSettings(config === undefined ? {} : { config }, shell);
  if (journal?.record !== undefined) return resolve(shell.cwd, journal.record.key);
  throw badArguments(
    'no key is named',
    'Name its file by --key, or by journal.record.key in the config.',
  );
}
