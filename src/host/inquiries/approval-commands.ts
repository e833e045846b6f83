import { patiently } from '@sluice/journal/internal';
import { approvalScopes, type Clock, definedFields, type Principal } from 'sluice-kernel/internal';
import type { ChatCommand, ChatCommandContext } from '../provided/chat-commands.js';
import { hostTexts } from '../texts/host-texts.js';
import type { Texts } from '../texts/texts.js';
import { answerApproval, whyNotAnswer } from './answer-approval.js';
import { shortIdOf } from './approval-row.js';
import { approvalLine, grantLine, scopeWords } from './approval-text.js';
import type { GrantRow } from './grants.js';
import type { PersistedApprovals } from './persisted-approvals.js';

const isId = (id: string): boolean => /^[0-9a-f]{4,}$/i.test(id);

/**
 * The commands `/approve`, `/deny` and `/approvals`. Anyone may give them: the question says who may answer it. They wait for no
 * turn, since a turn waits for them.
 */
export function approvalCommands(
  approvals: PersistedApprovals,
  texts: Texts,
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
    { args, principal, eventId, message }: ChatCommandContext,
  ): Promise<string> => {
    const say = texts.to(message);
    const [id = '', ...words] = args;
    if (!isId(id)) return say('approval-no-id');
    const [row, other] = await approvals.load(id.toLowerCase());
    if (other !== undefined) return say('approval-several', { id });
    const answeredIn = eventId === '' ? undefined : eventId;
    const given = { state, ...definedFields({ answeredBy: principal, answeredIn }) };
    const reason = words.join(' ');
    const because = reason !== '' && { reason };
    if (state === 'denied' || !texts.isWord('word-always', words[0]))
      return (await answerApproval(approvals, row, { ...given, ...because }, say)).text;
    const always = approvalScopes.find((scope) => texts.isWord(`word-${scope}`, words[1]));
    if (always === undefined)
      return say('approval-no-scope', { scopes: scopeWords(say, approvalScopes) });
    return (await answerApproval(approvals, row, { ...given, always }, say)).text;
  };

  const revoke = async (
    id: string,
    { principal: by, message }: ChatCommandContext,
  ): Promise<string> => {
    const say = texts.to(message);
    if (!isId(id)) return say('approval-no-id');
    const all = (await listed()).filter((grant) => mayRevoke(grant, by));
    const [grant, other] = all.filter((one) => one.id.startsWith(id.toLowerCase()));
    if (other !== undefined) return say('approval-several', { id });
    const isRevoked =
      grant !== undefined && (await patient((isAgain) => approvals.grants.revoke(grant, isAgain)));
    return isRevoked ? say('grant-revoked', { id: shortIdOf(grant) }) : say('grant-unknown');
  };

  const list = async ({ principal: by, message }: ChatCommandContext): Promise<string> => {
    const say = texts.to(message);
    const now = clock.now();
    const open = (await patient(() => approvals.load())).filter(
      ({ state, question: { of }, principal }) =>
        state === 'pending' && whyNotAnswer({ of, principal }, by) === undefined,
    );
    const grants = (await listed()).filter((grant) => mayRevoke(grant, by) || isFor(grant, by));
    return [
      ...(open.length === 0 ? [say('approvals-none')] : []),
      ...open.map((row) => approvalLine(row, now, say)),
      ...grants.map((grant) => grantLine(grant, now, say)),
    ].join('\n');
  };

  return [
    {
      name: 'approve',
      description: hostTexts['about-approve'],
      ...common,
      run: answer('allowed'),
    },
    {
      name: 'deny',
      description: hostTexts['about-deny'],
      ...common,
      run: answer('denied'),
    },
    {
      name: 'approvals',
      description: hostTexts['about-approvals'],
      ...common,
      run: (context) => {
        const [action, id = ''] = context.args;
        return action === 'revoke' ? revoke(id, context) : list(context);
      },
    },
  ];
}

/** Returns whether a grant lets actions go on somebody's behalf: he sees who gave it, also if he may not revoke it. */
function isFor({ principal }: GrantRow, by: Principal | undefined): boolean {
  return whyNotAnswer({ of: 'principal', principal }, by) === undefined && principal !== undefined;
}

/** Returns whether somebody may see and revoke a grant: an owner, and whoever may answer the question of it. */
function mayRevoke(grant: GrantRow, by: Principal | undefined): boolean {
  return by !== undefined && (by.isOwner || whyNotAnswer(grant, by) === undefined);
}
