import { createReadStream, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { cloudEventOf } from '@sluice/host';
import { timelineEntry } from '@sluice/host/internal';
import {
  type ExportLine,
  type Finding,
  publicKeyIn,
  readExport,
  readStatements,
  recordOf,
  statementIn,
  type Trusted,
  type VerifiedRecord,
  verifyRecord,
} from '@sluice/journal/internal';
import { readLines } from '@sluice/sdk/stream';
import { badArguments } from '../errors/command-error.js';
import { checkFile } from '../errors/file-error.js';
import { addJournalOptions, type JournalChoice, journalPlace } from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { readPlace } from '../settings/journal-place.js';
import { exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';

interface VerifyOptions extends JournalChoice {
  readonly checkpoint?: string;
  readonly key?: readonly string[];
}

const help = `
It needs no host: it looks at each record of a journal (journal.record in the config), or
of a file that \`sluice record export\` has written, and names each record that was changed,
removed, added or moved. Without a checkpoint or a key from elsewhere, whoever can write
to the journal may have made all of it anew; what comes after the last checkpoint is open.
docs/record.md says more. The exit code is 1 if anything is not as it was written.

Examples:
  $ sluice verify --journal ./sluice.db --checkpoint ./elsewhere/checkpoints.jsonl
  $ sluice verify ./record.jsonl --key ./host.pub --json`;

/** Adds `sluice verify`, which looks whether a record is as it was written. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalOptions(command, 'print a line of JSON per finding, and one for the whole')
    .argument('[file]', 'a file that was exported; without it, the journal')
    .option('--checkpoint <file>', 'checkpoints that were kept elsewhere: a line of JSON each')
    .option(
      '--key <files...>',
      'the keys of the hosts that have signed: PEM, the public half is enough',
    )
    .addHelpText('after', help)
    .action(async (file: string | undefined, options: VerifyOptions) => {
      const trusted = trustedOf(options, shell);
      const verified = await (file === undefined
        ? verifyJournal(options, trusted, shell)
        : verifyFile(file, trusted, shell));
      const { findings, ...counts } = verified;
      const all = { isGood: findings.length === 0, ...counts };
      shell.stdout.lines(
        options.json === true
          ? [...findings, all].map(jsonLine)
          : [...findings.map(findingLine), ...linesOf(verified)].map(printable),
      );
      done(all.isGood ? exitCodes.ok : exitCodes.failed);
    });
};

/** @throws CommandError `missing-file`, `unreadable-file` or `bad-arguments`; SluiceError `bad-record-key`. */
function trustedOf({ checkpoint, key = [] }: VerifyOptions, { cwd }: Shell): Trusted {
  const keys = key.map((file) => publicKeyIn(fileOf(file, cwd)));
  if (checkpoint === undefined) return { keys, checkpoints: [] };
  const lines = readFileSync(fileOf(checkpoint, cwd), 'utf8').split('\n').filter(Boolean);
  const checkpoints = lines.map((line, at) => {
    const one = statementIn(line);
    if (one?.kind === 'checkpoint') return one;
    throw badArguments(`line ${at + 1} of "${checkpoint}" is no checkpoint`, fileHint);
  });
  return { keys, checkpoints };
}

const fileHint = 'Name a file that `sluice record checkpoint` or a host has written.';

function fileOf(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  checkFile(path, file, fileHint);
  return path;
}

/** Looks at a journal. Records that are dropped meanwhile are no finding. */
async function verifyJournal(
  options: VerifyOptions,
  trusted: Trusted,
  shell: Shell,
): Promise<VerifiedRecord> {
  const place = await journalPlace(options, shell);
  const damaged = new Map<string, Finding>();
  await using reader = await readPlace(place, {
    onDamaged: ({ row, problem }) => {
      const seq = row === undefined ? {} : { seq: Number(row['seq']) };
      damaged.set(JSON.stringify([seq, problem]), { kind: 'changed', problem, ...seq });
    },
  });
  for (;;) {
    damaged.clear();
    const source = await recordOf(reader, 'path' in place);
    const verified = await verifyRecord(source, trusted);
    const { cut } = await readStatements(reader.keyValues);
    if (cut?.number === source.statements.cut?.number)
      return { ...verified, findings: [...damaged.values(), ...verified.findings] };
  }
}

/** Looks at a file that was exported. @throws CommandError `bad-arguments` if it is none. */
async function verifyFile(file: string, trusted: Trusted, shell: Shell): Promise<VerifiedRecord> {
  const read = await readExport(plainLines(createReadStream(fileOf(file, shell.cwd))));
  if (read === undefined)
    throw badArguments(
      `"${file}" is no record that was exported`,
      'Write one by `sluice record export`.',
    );
  const verified = await verifyRecord(read.source, trusted);
  return { ...verified, findings: [...verified.findings, ...read.findings] };
}

/** The lines of a file without their envelopes, if they are CloudEvents as they were exported. */
async function* plainLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const line of readLines(chunks)) yield plainLine(line);
}

function plainLine(line: string): string {
  if (!line.startsWith('{"specversion"')) return line;
  try {
    const { data, source } = Object(JSON.parse(line));
    return jsonLine(enveloped(data, String(source))) === line ? JSON.stringify(data) : line;
  } catch {
    return line; // which is no record
  }
}

/** Puts a line of an export into a CloudEvent. Its `data` is the line. */
export function enveloped(line: ExportLine, source: string): object {
  if (line.kind === 'record') return { ...cloudEventOf(timelineEntry(line), source), data: line };
  const type = `sluice.record.${line.kind}`;
  const id = `${line.kind}-${'number' in line ? line.number : ''}${'next' in line ? line.next : ''}`;
  return { specversion: '1.0', type, source, id, datacontenttype: 'application/json', data: line };
}

function findingLine({ kind, problem, slot, number, eventId, seq, line }: Finding): string {
  const where = Object.entries({ slot, number, event: eventId, row: seq, line });
  const named = where.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `${kind}: ${[...named, problem].join(', ')}`;
}

function linesOf({ findings, notes, records, checkpoints, ...counts }: VerifiedRecord) {
  const verdict =
    findings.length === 0 ? 'good' : `bad: ${counted(findings.length, 'finding', 'findings')}`;
  const told = [
    [counts.unsigned, 'after the last checkpoint: there may have been more'],
    [counts.forgotten, 'without their texts, which were forgotten'],
    [counts.before, 'from before the record began, or was cut: nothing is said of them'],
  ] as const;
  return [
    `${verdict}; ${counted(records, 'record', 'records')}, ${counted(checkpoints, 'checkpoint', 'checkpoints')}`,
    ...told.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])),
    ...notes.map((note) => `note: ${note}`),
  ];
}
