import { randomUUID } from 'node:crypto';
import {
  type ApprovalRow,
  answerApproval,
  approvalLine,
  type GrantRow,
  grantLine,
  PersistedApprovals,
  shortIdOf,
} from '@sluice/host/internal';
import type { TendedJournal } from '@sluice/journal';
import { patiently } from '@sluice/journal/internal';
import type { KeyValues } from '@sluice/sdk/extension';
import {
  approvalScopes,
  inertJson,
  principalText,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { addJournalActions, type JournalChoice, tendJournalOf } from '../journal/journal-of.js';
import { jsonLine } from '../print/json-line.js';
import { type ExitCode, exitCodes } from '../shell/exit-codes.js';
import type { AddCommand, Shell } from '../shell/shell.js';
import { printable } from '../shell/text.js';

interface ApprovalsOptions extends JournalChoice {
  readonly always?: string;
}

const actions = ['list', 'show', 'approve', 'deny', 'revoke'] as const;
type Action = (typeof actions)[number];

const help = `
Actions:
  list               the open questions, and what is always allowed
  show ID            one question: who may answer it, and all that it is about
  approve ID         allow it, as an operator: whoever may write the file may answer
  deny ID [REASON]   deny it; the agent reads the reason
  revoke ID          end an "always": the next such action is asked about

An id may be cut: its first characters are enough. A host that runs notices the answer
within a second; without a host the next one takes it. spec/judgement.md says more.

Examples:
  $ sluice approvals list --journal ./sluice.db
  $ sluice approvals show 3f9a12bc
  $ sluice approvals approve 3f9a12bc
  $ sluice approvals approve 3f9a12bc --always session
  $ sluice approvals deny 3f9a12bc "not on a Friday"`;

/** Adds `sluice approvals`, which shows and answers the questions that a host has put to humans. */
export const addCommand: AddCommand = (command, shell, done) => {
  addJournalActions(command, actions)
    .argument('[id]', 'the id of a question, as list shows it')
    .argument('[reason...]', 'with deny: why')
    .option('--always <scope>', 'with approve: for 30 days, for tool, session or principal')
    .option('--json', 'print a line of JSON per entry')
    .addHelpText('after', help)
    .action(
      async (action: Action, id: string | undefined, words: string[], options: ApprovalsOptions) =>
        done(await approvals({ action, id, reason: words.join(' ') }, options, shell)),
    );
};

/** The words of the command line after `sluice approvals`. */
interface Given {
  readonly action: Action;
  readonly id: string | undefined;
  readonly reason: string;
}

async function approvals(given: Given, options: ApprovalsOptions, shell: Shell): Promise<ExitCode> {
  const { action, id, reason } = given;
  if (id === undefined && action !== 'list')
    throw badArguments(`${action} needs the id of a question`, 'See `sluice approvals list`.');
  if (reason !== '' && action !== 'deny')
    throw badArguments(`${action} takes no reason`, 'A reason belongs to deny.');
  if (options.always !== undefined && action !== 'approve')
    throw badArguments(`${action} takes no --always`, '--always belongs to approve.');
  await using open = await tendJournalOf(options, shell);
  shell.stdout.lines(await linesOf(open, given, options));
  return exitCodes.ok;
}

async function linesOf(
  { keyValues }: TendedJournal,
  { action, id = '', reason }: Given,
  { json, always: scope }: ApprovalsOptions,
): Promise<readonly string[]> {
  const approvals = approvalsIn(keyValues);
  if (action === 'revoke') {
    const grant = rowOf(await approvals.grants.list(), id);
    if (!(await patient((isAgain) => approvals.grants.revoke(grant, isAgain))))
      throw badArguments(`${id} does not hold any more`, 'See `sluice approvals list`.');
    return [json === true ? jsonLine(grant) : `${shortIdOf(grant)} is revoked`];
  }
  const all = await approvals.load();
  if (action === 'list') {
    const kept = await approvals.grants.list();
    if (json === true) return [...all, ...kept].map(jsonLine);
    const now = systemClock.now();
    const questions = all.map((one) => approvalLine(one, now));
    const grants = kept.map((one) => grantLine(one, now));
    return [...questions, ...grants].map(printable);
  }
  const row = rowOf(all, id);
  if (action === 'show') return json === true ? [jsonLine(row)] : shown(row);
  const state = action === 'approve' ? 'allowed' : 'denied';
  const { ended, grant } = await answerAsOperator(keyValues, { id, state, reason, scope });
  if (json === true) return [jsonLine(ended)];
  if (ended.always === undefined) return [`${shortIdOf(row)} is ${state}`];
  const held = grant === undefined ? 'this once: there are too many grants' : 'always';
  return [`${shortIdOf(row)} is ${state}, ${held}`];
}

/** Milliseconds for which a command waits for a journal that is away. */
const waitMs = 10_000;

function patient<T>(work: (isAgain: boolean) => Promise<T>): Promise<T> {
  return patiently(systemClock, AbortSignal.timeout(waitMs), work);
}

/** The questions that a journal has kept, beside a host. */
export function approvalsIn(keyValues: KeyValues): PersistedApprovals {
  return new PersistedApprovals({ keyValues, clock: systemClock, logger: silentLogger });
}

/**
 * Answers a question, as somebody who may write the journal.
 *
 * @param given `id` may be cut; `scope` makes it hold for always.
 * @throws CommandError `bad-arguments` if it is not open, or may not be answered so.
 */
export async function answerAsOperator(
  keyValues: KeyValues,
  given: {
    readonly id: string;
    readonly state: 'allowed' | 'denied';
    readonly reason?: string | undefined;
    readonly scope?: string | undefined;
  },
): Promise<{ readonly ended: ApprovalRow; readonly grant?: GrantRow }> {
  const { id, state, reason = '', scope } = given;
  const approvals = approvalsIn(keyValues);
  const always = approvalScopes.find((one) => one === scope);
  if (scope !== undefined && always === undefined)
    throw badArguments(`there is no scope "${scope}"`, `Scopes: ${approvalScopes.join(', ')}.`);
  const answer = {
    ...({ state, answeredBy: 'operator', answeredIn: randomUUID() } as const),
    ...(always !== undefined && { always }),
    ...(reason !== '' && { reason }),
  };
  const { ended, text, ...more } = await patient(async () =>
    answerApproval(approvals, rowOf(await approvals.load(), id), answer),
  );
  if (ended === undefined) throw badArguments(`${id} is not answered`, text);
  return { ended, ...more };
}

function rowOf<R extends { readonly id: string }>(all: readonly R[], id: string): R {
  const [row, other] = all.filter((one) => one.id.startsWith(id.toLowerCase()));
  if (row === undefined || id === '')
    throw badArguments(
      `there is no question ${id}`,
      'See `sluice approvals list`; a question goes when its message has ended.',
    );
  if (other === undefined) return row;
  throw badArguments(`several questions begin with ${id}`, 'Write more of the id.');
}

/** Writes all that is known of a question. */
function shown(row: ApprovalRow): readonly string[] {
  const { question, answeredBy, always, principal, mayHaveRun, reason } = row;
  const { of, asker } = question;
  const who = typeof of === 'string' ? of : `role ${of.role}`;
  const by =
    answeredBy === undefined || answeredBy === 'operator' ? answeredBy : principalText(answeredBy);
  return [
    approvalLine(row, systemClock.now()),
    `  title: ${question.title}`,
    ...(question.text === undefined ? [] : [`  text: ${question.text}`]),
    `  asked by: ${asker.extensionId}/${asker.contributionId}, in ${row.family}, of message ${row.correlationId}`,
    `  may answer: ${who}`,
    ...(question.scopes.length === 0
      ? []
      : [`  "always" is offered for: ${question.scopes.join(', ')}`]),
    ...(principal === undefined ? [] : [`  on behalf of: ${principalText(principal)}`]),
    ...(row.sessionKey === undefined ? [] : [`  session: ${row.sessionKey}`]),
    ...(row.subagentId === undefined ? [] : [`  subagent: ${row.subagentId}`]),
    `  asked: ${new Date(row.askedAtMs).toISOString()}, until ${new Date(row.dueAtMs).toISOString()}`,
    ...(mayHaveRun === true ? ['  it was allowed before, and may have happened already'] : []),
    ...(by === undefined ? [] : [`  answered by: ${by}`]),
    ...(always === undefined ? [] : [`  always: ${always}`]),
    ...(reason === undefined ? [] : [`  reason: ${reason}`]),
    `  ${row.about}: ${inertJson(row.payload)}`,
  ].map(printable);
}
