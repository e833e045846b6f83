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
import { patiently } from '@sluice/journal/internal';
import type { KeyValues } from '@sluice/sdk/extension';
import { Option } from 'commander';
import {
  approvalScopes,
  inertJson,
  principalText,
  silentLogger,
  systemClock,
} from 'sluice-kernel/internal';
import { badArguments } from '../errors/command-error.js';
import { type JournalChoice, journalOptions, tending } from '../journal/journal-of.js';
import { type Answer, resource } from '../resource/resource.js';
import { printable } from '../shell/text.js';

interface ApprovalsOptions extends JournalChoice {
  readonly always?: string;
}

const help = `
An id is as list shows it, or its first characters. A host that runs notices the answer
within a second; without a host the next one takes it. spec/judgement.md says more.

Examples:
  $ sluice approvals list --journal ./sluice.db
  $ sluice approvals show 3f9a12bc
  $ sluice approvals approve 3f9a12bc
  $ sluice approvals approve 3f9a12bc --always session
  $ sluice approvals deny 3f9a12bc "not on a Friday"`;

/** Adds `sluice approvals`, which shows and answers the questions that a host has put to humans. */
export const addCommand = resource<ApprovalsOptions>({
  options: journalOptions('print a line of JSON per entry'),
  actions: {
    list: {
      summary: 'the open questions, and what is always allowed',
      work: tending(async ({ journal: { keyValues } }) => {
        const approvals = approvalsIn(keyValues);
        const [questions, grants] = [await approvals.load(), await approvals.grants.list()];
        const now = systemClock.now();
        return {
          data: [...questions, ...grants],
          lines: () => [
            ...questions.map((one) => printable(approvalLine(one, now))),
            ...grants.map((one) => printable(grantLine(one, now))),
          ],
        };
      }),
    },
    'show <id>': {
      summary: 'one question: who may answer it, and all that it is about',
      work: tending(async ({ journal: { keyValues }, args: [id = ''] }) => {
        const row = rowOf(await approvalsIn(keyValues).load(), id);
        return { data: [row], lines: () => shown(row) };
      }),
    },
    'approve <id>': {
      summary: 'allow it, as an operator: whoever may write the file may answer',
      options: [new Option('--always <scope>', 'for 30 days, for tool, session or principal')],
      work: tending(({ journal, args: [id = ''], options: { always: scope } }) =>
        answered(journal.keyValues, { id, state: 'allowed', scope }),
      ),
    },
    'deny <id> [reason...]': {
      summary: 'deny it; the agent reads the reason',
      work: tending(({ journal, args: [id = '', ...words] }) =>
        answered(journal.keyValues, { id, state: 'denied', reason: words.join(' ') }),
      ),
    },
    'revoke <id>': {
      summary: 'end an "always": the next such action is asked about',
      work: tending(async ({ journal: { keyValues }, args: [id = ''] }) => {
        const { grants } = approvalsIn(keyValues);
        const grant = rowOf(await grants.list(), id);
        if (!(await patient((isAgain) => grants.revoke(grant, isAgain))))
          throw badArguments(`${id} does not hold any more`, 'See `sluice approvals list`.');
        return { data: [grant], lines: () => [`${shortIdOf(grant)} is revoked`] };
      }),
    },
  },
  help,
});

async function answered(
  keyValues: KeyValues,
  given: Parameters<typeof answerAsOperator>[1],
): Promise<Answer> {
  const { ended, grant } = await answerAsOperator(keyValues, given);
  const how = grant === undefined ? ', this once: there are too many grants' : ', always';
  const line = `${shortIdOf(ended)} is ${given.state}${ended.always === undefined ? '' : how}`;
  return { data: [ended], lines: () => [line] };
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
