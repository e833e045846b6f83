import type { ApprovalScope, Approver, Principal } from 'sluice-kernel';
import { type HostSay, inEnglish } from '../texts/texts.js';
import { type AnsweredBy, type ApprovalEnd, type ApprovalRow, shortIdOf } from './approval-row.js';
import { scopeText } from './approval-text.js';
import { type GrantRow, offeredScopes } from './grants.js';
import type { PersistedApprovals } from './persisted-approvals.js';

/** An answer, by a channel or by an operator at the journal. */
export interface GivenAnswer extends ApprovalEnd {
  readonly state: 'allowed' | 'denied';
  /** Absent if the channel has proven nobody. */
  readonly answeredBy?: AnsweredBy;
}

/** An answer that was taken, or was not. */
export interface Answered {
  /** A text for the one who gave it. */
  readonly text: string;
  /** The question as the answer has ended it; absent if the answer was not taken. */
  readonly ended?: ApprovalRow;
  /** The "always" that it gave; absent also if there is no room for it. */
  readonly grant?: GrantRow;
}

/**
 * Takes the answer to an approval. A second answer, one to an id that is not open and one of somebody who may not answer change
 * nothing (judgement §4.19). The same answer, by its `answeredIn`, may come again.
 *
 * @throws as the journal does: the answer may have been taken, so it is to be tried again.
 */
export async function answerApproval(
  approvals: PersistedApprovals,
  row: ApprovalRow | undefined,
  end: GivenAnswer,
  say = inEnglish,
): Promise<Answered> {
  if (row === undefined) return { text: say('approval-closed') };
  const id = shortIdOf(row);
  const { question, principal, family } = row;
  const { state, answeredBy, answeredIn, always } = end;
  if (row.state !== 'pending') await approvals.sign.give(); // whoever has ended it may have died before that
  const isAgain = answeredIn !== undefined && row.answeredIn === answeredIn;
  const problem = isAgain
    ? undefined
    : (whyNotAnswer({ of: question.of, principal }, answeredBy, say) ??
      whyNotAlways(row, always, say));
  if (problem !== undefined) return { text: problem };
  const ended = isAgain ? row : await approvals.end(row, end);
  if (ended === undefined) return { text: say('approval-closed') };
  if (always === undefined) return { text: say(`approval-${state}`, { id }), ended };
  await approvals.grants.keep(ended);
  const grant = await approvals.grants.for(ended);
  if (grant === undefined) return { text: say('approval-allowed-once', { id }), ended };
  const revoking = `/approvals revoke ${shortIdOf(grant)}`;
  const scope = scopeText(say, always, family);
  return { text: say('approval-allowed-always', { id, scope, revoking }), ended, grant };
}

/** Says why a question cannot be answered with "always" for a scope; nothing if it can. */
function whyNotAlways(
  row: ApprovalRow,
  always: ApprovalScope | undefined,
  say: HostSay,
): string | undefined {
  const offered = offeredScopes(row);
  if (always === undefined || offered.includes(always)) return undefined;
  if (offered.length === 0) return say('approval-not-always');
  return say('approval-scopes', { scopes: offered.join(', ') });
}

/** Says why somebody may not answer a question; nothing if he may (judgement §4.18). */
export function whyNotAnswer(
  { of, principal }: { readonly of: Approver; readonly principal?: Principal | undefined },
  by: AnsweredBy | undefined,
  say = inEnglish,
): string | undefined {
  if (by === 'operator') return undefined;
  if (by === undefined) return say('approval-unproven');
  if (of === 'owner') return by.isOwner ? undefined : say('approval-of-owner');
  if (of === 'principal') {
    const isSame =
      principal?.senderId === by.senderId &&
      principal.channel === by.channel &&
      principal.accountId === by.accountId;
    return isSame ? undefined : say('approval-of-principal');
  }
  if (by.roles.includes(of.role)) return undefined;
  return say('approval-of-role', of);
}
