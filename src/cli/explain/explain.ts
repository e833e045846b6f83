import { type DispatchEntry, type EntryContent, foldTimeline, readTimeline } from '@sluice/host';
import { entryKinds } from '@sluice/journal/internal';
import { type AuditRecord, canonicalStages, explain as explained } from 'sluice-kernel';
import {
  addJournalOptions,
  type JournalChoice,
  openJournalOf,
  unknownEvent,
} from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { type Layout, laidOut } from '../print/layout.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, printable, span } from '../shell/text.js';

interface ExplainOptions extends JournalChoice {
  readonly way?: boolean;
  readonly debug?: boolean;
}

const help = `
Tells of one dispatch: its handlers in run order with their time and budget, each change
with its author, conflicts, the cancel or the choice and why the others lost, failures
with their policy, and what was skipped. The id is in every line of the log, as eventId.

With --way, all that belongs to the same message, in the order in which it happened: when
it was taken in, begun and ended, how long it waited, its dispatches, questions and sends.
The journal may be in use meanwhile.

Examples:
  $ sluice explain 0mf3k1q2a-0000001-x8w3kz --journal ./sluice.db
  $ sluice explain 0mf3k1q2a-0000001-x8w3kz --way --journal ./sluice.db`;

/** Adds `sluice explain`, which shows the handlers of a dispatch in the journal and what each of them did. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalOptions(command, 'print a line of JSON per dispatch')
    .argument('<event-id>', 'the id of an event, or of the message that it belongs to')
    .option('--way', 'every dispatch of the same message')
    .option('--debug', 'stack traces of errors')
    .addHelpText('after', help)
    .action(async (id: string, options: ExplainOptions) => done(await explain(id, options, shell)));
};

async function explain(id: string, options: ExplainOptions, shell: Shell): Promise<ExitCode> {
  await using reader = await openJournalOf(options, shell);
  const own = await readTimeline(reader, { eventId: id, kinds: ['dispatch'] });
  const correlationId = own[0]?.correlationId ?? id;
  const isWhole = options.way === true || own.length === 0;
  const kinds = isWhole ? entryKinds : (['audit'] as const);
  const timeline = await readTimeline(reader, { correlationId, kinds, limit: mostEntries });
  const shown = isWhole ? timeline : own;
  if (!shown.some(({ kind }) => kind === 'dispatch' || options.json !== true))
    throw unknownEvent(id);
  const { audits } = foldTimeline(timeline);
  const { palettes, width, stdout } = shell;
  const palette = palettes.stdout;
  for (const entry of shown)
    if (entry.kind === 'dispatch') {
      const judged = (audits.get(entry.id) ?? []).map(({ record }) => record);
      if (options.json === true) stdout.lines([dispatchJson(entry, judged)]);
      else stdout.lines(dispatchLines(entry, judged, { palette, width }));
    } else if (options.json !== true && entry.kind !== 'audit')
      stdout.lines(laidOut(entryText(entry), 0, palette.quiet, width));
  if (isWhole || options.json === true) return exitCodes.ok;
  const all = await reader.dispatches({ correlationId, limit: mostEntries });
  if (all.length > own.length)
    stdout.lines([
      palette.quiet(
        `One of ${counted(all.length, 'dispatch', 'dispatches')} of message ${printable(correlationId)}; --way shows them.`,
      ),
    ]);
  return exitCodes.ok;
}

/** The entries of one message that are shown at most. */
const mostEntries = 10_000;

function dispatchJson({ outcome }: DispatchEntry, audits: readonly AuditRecord[]): string {
  return jsonLine(audits.length === 0 ? outcome : { ...outcome, audits });
}

function dispatchLines(
  { id, atMs, outcome }: DispatchEntry,
  audits: readonly AuditRecord[],
  { palette, width }: Layout,
): string[] {
  const stage = canonicalStages.find(({ family }) => family === outcome.event.family);
  const missing =
    outcome.omitted === undefined ? '' : `, kept without payloads (${outcome.omitted})`;
  const where = `${id}, ${new Date(atMs).toISOString()}${missing}`;
  return explained(outcome, { stage, audits }).flatMap(({ depth, words }) =>
    depth > 0
      ? laidOut(words, 2, palette.plain, width)
      : [...laidOut(words, 0, palette.strong, width), ...laidOut(where, 2, palette.quiet, width)],
  );
}

/** Says an entry that is no dispatch in one line. */
function entryText(entry: Exclude<EntryContent, { kind: 'dispatch' | 'audit' }>): string {
  return printable(textOf(entry));
}

function textOf(entry: Parameters<typeof entryText>[0]): string {
  switch (entry.kind) {
    case 'update': {
      const { state, outcome, reason } = entry;
      const how = outcome === undefined ? '' : `: ${outcome}${because(reason)}`;
      return `message ${state}${at(entry)}${how}`;
    }
    case 'lane':
      return `waited ${span(entry.waitedMs)} for its ${entry.of}`;
    case 'question':
      return `question ${entry.state}: ${entry.title}`;
    case 'send': {
      const { state, sendKind, cause, reason } = entry;
      const why = cause === undefined ? '' : ` (${cause})`;
      return `${sendKind} ${state}${at(entry)}${why}${because(reason)}`;
    }
    case 'attempt':
      return `attempt ${entry.attempt}${at(entry)}: ${entry.status}${because(entry.reason)}, ${span(entry.durationMs)}`;
    case 'gap':
      return `${entry.count} records are missing here`;
  }
}

function at({ channel, accountId }: { readonly channel?: string; readonly accountId?: string }) {
  return channel === undefined ? '' : ` at ${channel}/${accountId ?? ''}`;
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `, ${reason}`;
}
