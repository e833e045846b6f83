import { patiently } from '@sluice/journal/internal';
import { approvalScopes, type Clock, definedFields, type Principal } from 'sluice-kernel/internal';
import type { ChatCommand, ChatCommandContext } from '../provided/chat-commands.js';
import { answerApproval, whyNotAnswer } from './answer-approval.js';
import { shortIdOf } from './approval-row.js';
import { approvalLine, grantLine } from './approval-text.js';
import type { GrantRow } from './grants.js';
import type { PersistedApprovals } from './persisted-approvals.js';

const isId = (id: string): boolean => /^[0-9a-f]{4,}$/i.test(id);
const noIdText = 'Name the approval by its id: see /approvals.';

/**
 * The commands `/approve`, `/deny` and `/approvals`. Anyone may give them: the question says who may answer it. They wait for no
 * turn, since a turn waits for them.
 */
export function approvalCommands(
  approvals: PersistedApprovals,
  clock: Clock,
): readonly ChatCommand[] {
  const common = { runsAtOnce: true, forAnyone: true } as const;

  const patient = <T>(work: (isAgain: boolean) => Promise<T>) =>
    patiently(clock, approvals.leaving, work);
  const listed = () => patient(() => approvals.grants.list());

  const answer =
    (state: 'allowed' | 'denied') =>
    (context: ChatCommandContext): Promise<string> =>
      patient(() => answerOnce(state, context));

  const answerOnce = async (
    state: 'allowed' | 'denied',
    { args, principal, eventId }: ChatCommandContext,
  ): Promise<string> => {
    const [id = '', ...words] = args;
    if (!isId(id)) return noIdText;
    const [row, other] = await approvals.load(id.toLowerCase());
    if (other !== undefined) return severalText(id);
    const answeredIn = eventId === '' ? undefined : eventId;
    const given = { state, ...definedFields({ answeredBy: principal, answeredIn }) };
    const reason = words.join(' ');
    const because = reason !== '' && { reason };
    if (state === 'denied' || words[0] !== 'always')
      return (await answerApproval(approvals, row, { ...given, ...because })).text;
    const always = approvalScopes.find((scope) => scope === words[1]);
    if (always === undefined) return `Say for which: ${approvalScopes.join(', ')}.`;
    return (await answerApproval(approvals, row, { ...given, always })).text;
  };

  const revoke = async (id: string, by: Principal | undefined): Promise<string> => {
    if (!isId(id)) return noIdText;
    const all = (await listed()).filter((grant) => mayRevoke(grant, by));
    const [grant, other] = all.filter((one) => one.id.startsWith(id.toLowerCase()));
    if (other !== undefined) return severalText(id);
    const isRevoked =
      grant !== undefined && (await patient((isAgain) => approvals.grants.revoke(grant, isAgain)));
    return isRevoked
      ? `${shortIdOf(grant)} is revoked.`
      : 'You have no such "always": see /approvals.';
  };

  const list = async (by: Principal | undefined): Promise<string> => {
    const now = clock.now();
    const open = (await patient(() => approvals.load())).filter(
      ({ state, question: { of }, principal }) =>
        state === 'pending' && whyNotAnswer({ of, principal }, by) === undefined,
    );
    const grants = (await listed()).filter((grant) => mayRevoke(grant, by) || isFor(grant, by));
    return [
      ...(open.length === 0 ? ['No approval waits for you.'] : []),
      ...open.map((row) => approvalLine(row, now)),
      ...grants.map((grant) => grantLine(grant, now)),
    ].join('\n');
  };

  return [
    {
      name: 'approve',
      description:
        'Allows what an approval asks about: /approve ID [always tool|session|principal].',
      ...common,
      run: answer('allowed'),
    },
    {
      name: 'deny',
      description: 'Denies what an approval asks about: /deny ID [reason].',
      ...common,
      run: answer('denied'),
    },
    {
      name: 'approvals',
      description:
        'Lists the approvals that you may answer, and what is always allowed: /approvals [revoke ID].',
      ...common,
      run: ({ args: [action, id = ''], principal }) =>
        action === 'revoke' ? revoke(id, principal) : list(principal),
    },
  ];
}

function severalText(id: string): string {
  return `Several approvals begin with ${id}: write more of the id.`;
}

/** Returns whether a grant lets actions go on somebody's behalf: he sees who gave it, also if he may not revoke it. */
function isFor({ principal }: GrantRow, by: Principal | undefined): boolean {
  return whyNotAnswer({ of: 'principal', principal }, by) === undefined && principal !== undefined;
}

/** Returns whether somebody may see and revoke a grant: an owner, and whoever may answer the question of it. */
function mayRevoke(grant: GrantRow, by: Principal | undefined): boolean {
  return by !== undefined && (by.isOwner || whyNotAnswer(grant, by) === undefined);
}
