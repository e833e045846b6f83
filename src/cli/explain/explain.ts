import type { Command } from 'commander';
import { recordedAudit, recordedOutcome } from '../../host/internal.js';
import { canonicalStages, explainAudit, explainOutcome } from '../../kernel/index.js';
import { CommandError } from '../errors/command-error.js';
import { addJournalOptions, type JournalChoice, openJournalOf } from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { laidOut } from '../print/layout.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';

interface ExplainOptions extends JournalChoice {
  readonly way?: boolean;
  readonly json?: boolean;
  readonly debug?: boolean;
}

const help = `
Tells of one dispatch: its handlers in run order with their time and budget, each change
with its author, conflicts, the cancel or the choice and why the others lost, failures
with their policy, and what was skipped. The id is in every line of the log, as eventId.

With --way, every dispatch that belongs to the same message, in the order in which they
ended. The journal may be in use meanwhile.

Examples:
  $ sluice explain 0mf3k1q2a-0000001-x8w3kz --journal ./sluice.db
  $ sluice explain 0mf3k1q2a-0000001-x8w3kz --way --journal ./sluice.db`;

/** Adds `sluice explain`, which shows the handlers of a dispatch in the journal and what each of them did. */
export function addExplain(command: Command, shell: Shell, done: (code: ExitCode) => void): void {
  addJournalOptions(command)
    .argument('<event-id>', 'the id of an event, or of the message that it belongs to')
    .option('--way', 'every dispatch of the same message')
    .option('--json', 'print a line of JSON per dispatch')
    .option('--debug', 'stack traces of errors')
    .addHelpText('after', help)
    .action(async (id: string, options: ExplainOptions) => done(await explain(id, options, shell)));
}

async function explain(id: string, options: ExplainOptions, shell: Shell): Promise<ExitCode> {
  await using reader = await openJournalOf(options, shell);
  const own = await reader.dispatches({ eventId: id });
  const correlationId = own[0]?.correlationId ?? id;
  const way = await reader.dispatches({ correlationId, limit: mostDispatches });
  const wanted = options.way === true || own.length === 0 ? way : own;
  if (wanted.length === 0)
    throw new CommandError(
      'unknown-event',
      `the journal has no dispatch of "${printable(id)}"`,
      'Look the id up in the log, as eventId. A dispatch that is older than the journal keeps is gone.',
      { exitCode: exitCodes.failed },
    );
  const audits = (
    await reader.dispatches({ correlationId, audits: true, limit: mostDispatches })
  ).map(recordedAudit);
  const { palettes, width, stdout } = shell;
  const palette = palettes.stdout;
  for (const record of wanted) {
    const outcome = recordedOutcome(record);
    const audited = audits.filter(({ eventId }) => eventId === record.eventId);
    if (options.json === true) {
      stdout.lines([jsonLine(audited.length === 0 ? outcome : { ...outcome, audits: audited })]);
      continue;
    }
    const stage = canonicalStages.find(({ family }) => family === record.family);
    const [verdict = '', ...rest] = explainOutcome(outcome, stage === undefined ? {} : { stage });
    const when = new Date(record.occurredAtMs).toISOString();
    stdout.lines([
      ...laidOut(verdict, 0, palette.strong, width),
      ...laidOut(`${record.eventId}, ${when}${missing(record.omitted)}`, 2, palette.quiet, width),
      ...[...rest, ...audited.map(explainAudit)].flatMap((line) =>
        laidOut(line.trim(), 2, palette.plain, width),
      ),
    ]);
  }
  if (wanted === own && way.length > own.length && options.json !== true)
    stdout.lines([
      palette.quiet(
        `One of ${counted(way.length, 'dispatch', 'dispatches')} of message ${printable(correlationId)}; --way shows them.`,
      ),
    ]);
  return exitCodes.ok;
}

/** The dispatches of one message that are shown at most. */
const mostDispatches = 10_000;

function missing(omitted: string | undefined): string {
  return omitted === undefined ? '' : `, kept without payloads (${omitted})`;
}
