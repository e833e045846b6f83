import { approvalLine, questionKind, readItems } from '@sluice/host/internal';
import type { TendedJournal } from '@sluice/journal';
import { openUpdates } from '@sluice/journal/internal';
import { definedFields, oneLine, systemClock } from 'sluice-kernel/internal';
import { z } from 'zod';
import { approvalsIn } from '../approvals/approvals.js';
import { addJournalOptions, type JournalChoice, journalPlace } from '../journal/journal-of.js';
import { sendLine, timeOf, updateLine } from '../journal/record-lines.js';
import { printData } from '../print/print-data.js';
import { placeName, tendPlace } from '../settings/journal-place.js';
import { readSettings } from '../settings/settings.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { counted, printable } from '../shell/text.js';
import { askHost, type HostAnswer, healthUrl, whyNotReady } from './ask-host.js';

interface StatusOptions extends JournalChoice {
  readonly running?: string;
}

const help = `
It asks the host that runs at its health port, and reads its journal. If no host answers,
all is from the journal, and the first line says so. The exit code is 0 if a host takes
messages in.

Examples:
  $ sluice status
  $ sluice status --running http://127.0.0.1:8080 --json
  $ sluice status --journal ./sluice.db`;

/** Rows of a journal that are looked at, conversations that are shown, and failures. */
const [mostRows, mostLanes, mostFailures] = [1_000, 5, 5];

/** Adds `sluice status`, which says in a few lines how a host is. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalOptions(command, 'print all of it as a line of JSON')
    .option('--running <url>', 'the health port of the host (default: that of the config file)')
    .addHelpText('after', help)
    .action(async (options: StatusOptions) => done(await status(options, shell)));
};

async function status(options: StatusOptions, shell: Shell): Promise<ExitCode> {
  const settings = await readSettings(definedFields({ config: options.config }), shell);
  const url = healthUrl(options.running, settings);
  const host = url === undefined ? 'no health port is named' : await askHost(url).catch(oneLine);
  const isAway = typeof host === 'string';
  const isNamed = options.journal !== undefined || settings.place !== undefined;
  // without both, it says what it needs
  const place = isNamed || url === undefined ? await journalPlace(options, shell) : undefined;
  const kept = place && (await inJournal(await tendPlace(place)));
  const journal = place && placeName(place);
  const sinceMs = systemClock.now() - (isAway ? 0 : host.uptimeMs);
  const told = isAway
    ? { ...(place && { from: 'journal' }), ready: false, why: host }
    : { from: 'host', ...host, sinceMs };
  const why = url === undefined ? `not asked: ${host}` : `away: ${url}: ${host}`;
  const source = journal === undefined ? 'No journal is named' : `All of this is from ${journal}`;
  const lines = isAway ? [printable(`${why}. ${source}`)] : hostLines(host, `${url}`, sinceMs);
  const data = definedFields({ ...told, url, journalName: journal, ...kept?.data });
  printData(shell, options, [data], () => [...lines, ...(kept?.lines ?? [])]);
  return told.ready ? exitCodes.ok : exitCodes.failed;
}

function hostLines(host: HostAnswer, url: string, sinceMs: number): readonly string[] {
  const { ready, messages, turns, accounts, starting, degraded } = host;
  const names = [
    ...accounts.map(({ channel, accountId }) => `${channel}/${accountId}`),
    ...starting.map((one) => `${one.channel}/${one.accountId} (not started: ${one.code ?? '?'})`),
  ];
  return [
    `${ready ? 'ready' : `not ready: ${whyNotReady(host)}`}, since ${timeOf(sinceMs)}, at ${url}`,
    `accounts: ${names.join(', ') || 'none'}`,
    `now: ${counted(messages, 'message', 'messages')}, ${counted(turns, 'turn', 'turns')}`,
    ...degraded.map(
      ({ code, whose = '', what, count }) =>
        `look at: ${code} ${whose}: ${what ?? counted(count, 'time', 'times')}`,
    ),
  ].map((line) => printable(line).replace(' :', ':'));
}

/** The part that a journal knows. It is closed then. */
async function inJournal(opened: TendedJournal) {
  await using journal = opened;
  const { updates, sends } = await journal.counts();
  const lanes = new Map<string, { lane: string; waiting: number; oldestAtMs: number }>();
  const open = { states: openUpdates, limit: mostRows, withoutBody: true };
  for (const { lane = '', acceptedAtMs } of await journal.updates(open)) {
    const known = lanes.get(lane) ?? { lane, waiting: 0, oldestAtMs: acceptedAtMs };
    lanes.set(lane, { ...known, waiting: known.waiting + 1 });
  }
  const near = { withinLast: mostRows, limit: mostRows };
  const failed = (await journal.updates({ ...near, withoutBody: true }))
    .filter(({ state, outcome = '' }) => state === 'dead' || /^(failed|undecodable)$/.test(outcome))
    .slice(-mostFailures);
  const unsent = (await journal.sends({ ...near, states: ['failed'] })).slice(-mostFailures);
  const approvals = (await approvalsIn(journal.keyValues).load()).filter(
    ({ state }) => state === 'pending',
  );
  const asked = (await readItems(journal.keyValues, questionKind)).filter(questionKind.isOpen);
  const budget = await budgetOf(journal);
  const shown = [...lanes.values()].sort((a, b) => b.waiting - a.waiting).slice(0, mostLanes);
  const waiting = counted(updates.accepted + updates.handling, 'message', 'messages');
  const under = (text: string): string => `  ${printable(text)}`;
  return {
    data: { updates, sends, lanes: shown, failed, unsent, approvals, questions: asked, budget },
    lines: [
      `in the journal: ${waiting} open, ${counted(updates.dead, 'dead letter', 'dead letters')}`,
      ...shown.map(({ lane, ...of }) =>
        under(
          `${lane.replace(/[[\]",]+/g, ' ').trim()}: ${of.waiting}, since ${timeOf(of.oldestAtMs)}`,
        ),
      ),
      `last failures: ${failed.length + unsent.length || 'none'}`,
      ...[...failed.map(updateLine), ...unsent.map(sendLine)].map(under),
      `open questions: ${approvals.length + asked.length || 'none'}`,
      ...approvals.map((row) => under(approvalLine(row, systemClock.now()))),
      ...asked.map(({ name, ...of }) =>
        under(`${of.extensionId}/${name}, until ${timeOf(of.dueAtMs)}`),
      ),
      ...budget.map(({ key, name, used }) =>
        printable(`used: ${key}: ${name}: ${used.tokens} tokens, $${used.microUsd / 1e6}`),
      ),
    ],
  };
}

/** An account of the extension `budget`, as its store has it. */
const account = z.object({
  name: z.string(),
  used: z.object({ tokens: z.number(), microUsd: z.number() }),
});

/** The accounts of all together and of each agent for the day that it is in the time zone of the extension `budget`, if it counts. */
async function budgetOf({ keyValues }: Pick<TendedJournal, 'keyValues'>) {
  for (const hours of [14, 0, -12]) {
    const day = new Date(systemClock.now() + hours * 3_600_000).toISOString().slice(0, 10);
    const found = [];
    for (const key of [`${day}/total`, `${day}/perAgent`])
      for (const { body } of await keyValues.list('budget', {
        prefix: `${key}/`,
        limit: mostRows,
      })) {
        const { data } = account.safeParse(JSON.parse(body));
        if (data !== undefined) found.push({ key, ...data });
      }
    if (found.length > 0) return found;
  }
  return [];
}
