import { type DispatchFact, foldWay, readWay, type WayFact } from '@sluice/host';
import { wayKinds } from '@sluice/journal/internal';
import { type AuditRecord, canonicalStages, explainAudit, explainOutcome } from 'sluice-kernel';
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
  readonly json?: boolean;
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
  addJournalOptions(command)
    .argument('<event-id>', 'the id of an event, or of the message that it belongs to')
    .option('--way', 'every dispatch of the same message')
    .option('--json', 'print a line of JSON per dispatch')
    .option('--debug', 'stack traces of errors')
    .addHelpText('after', help)
    .action(async (id: string, options: ExplainOptions) => done(await explain(id, options, shell)));
};

async function explain(id: string, options: ExplainOptions, shell: Shell): Promise<ExitCode> {
  await using reader = await openJournalOf(options, shell);
  const own = await readWay(reader, { eventId: id, kinds: ['dispatch'] });
  const correlationId = own[0]?.correlationId ?? id;
  const isWhole = options.way === true || own.length === 0;
  const kinds = isWhole ? wayKinds : (['audit'] as const);
  const way = await readWay(reader, { correlationId, kinds, limit: mostFacts });
  const shown = isWhole ? way : own;
  if (!shown.some(({ kind }) => kind === 'dispatch' || options.json !== true))
    throw unknownEvent(id);
  const { audits } = foldWay(way);
  const { palettes, width, stdout } = shell;
  const palette = palettes.stdout;
  for (const fact of shown)
    if (fact.kind === 'dispatch') {
      const judged = (audits.get(fact.id) ?? []).map(({ record }) => record);
      if (options.json === true) stdout.lines([dispatchJson(fact, judged)]);
      else stdout.lines(dispatchLines(fact, judged, { palette, width }));
    } else if (options.json !== true && fact.kind !== 'audit')
      stdout.lines(laidOut(factText(fact), 0, palette.quiet, width));
  if (isWhole || options.json === true) return exitCodes.ok;
  const all = await reader.dispatches({ correlationId, limit: mostFacts });
  if (all.length > own.length)
    stdout.lines([
      palette.quiet(
        `One of ${counted(all.length, 'dispatch', 'dispatches')} of message ${printable(correlationId)}; --way shows them.`,
      ),
    ]);
  return exitCodes.ok;
}

/** The facts of one message that are shown at most. */
const mostFacts = 10_000;

function dispatchJson({ outcome }: DispatchFact, audits: readonly AuditRecord[]): string {
  return jsonLine(audits.length === 0 ? outcome : { ...outcome, audits });
}

function dispatchLines(
  { id, atMs, outcome }: DispatchFact,
  audits: readonly AuditRecord[],
  { palette, width }: Layout,
): string[] {
  const stage = canonicalStages.find(({ family }) => family === outcome.event.family);
  const [verdict = '', ...rest] = explainOutcome(outcome, stage === undefined ? {} : { stage });
  const missing =
    outcome.omitted === undefined ? '' : `, kept without payloads (${outcome.omitted})`;
  return [
    ...laidOut(verdict, 0, palette.strong, width),
    ...laidOut(`${id}, ${new Date(atMs).toISOString()}${missing}`, 2, palette.quiet, width),
    ...[...rest, ...audits.map(explainAudit)].flatMap((line) =>
      laidOut(line.trim(), 2, palette.plain, width),
    ),
  ];
}

/** Says a fact that is no dispatch in one line. */
function factText(fact: Exclude<WayFact, { kind: 'dispatch' | 'audit' }>): string {
  return printable(textOf(fact));
}

function textOf(fact: Parameters<typeof factText>[0]): string {
  switch (fact.kind) {
    case 'update': {
      const { state, outcome, reason } = fact;
      const how = outcome === undefined ? '' : `: ${outcome}${because(reason)}`;
      return `message ${state}${at(fact)}${how}`;
    }
    case 'lane':
      return `waited ${span(fact.waitedMs)} for its ${fact.of}`;
    case 'question':
      return `question ${fact.state}: ${fact.title}`;
    case 'send': {
      const { state, sendKind, cause, reason } = fact;
      const why = cause === undefined ? '' : ` (${cause})`;
      return `${sendKind} ${state}${at(fact)}${why}${because(reason)}`;
    }
    case 'attempt':
      return `attempt ${fact.attempt}${at(fact)}: ${fact.status}${because(fact.reason)}, ${span(fact.durationMs)}`;
    case 'gap':
      return `${fact.count} records are missing here`;
  }
}

function at({ channel, accountId }: { readonly channel?: string; readonly accountId?: string }) {
  return channel === undefined ? '' : ` at ${channel}/${accountId ?? ''}`;
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `, ${reason}`;
}
