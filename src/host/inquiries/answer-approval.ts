import type { ApprovalScope, Approver, Principal } from 'sluice-kernel';
import { type ApprovalEnd, type ApprovalRow, shortIdOf } from './approval-row.js';
import { scopeText } from './approval-text.js';
import { offeredScopes } from './grants.js';
import type { PersistedApprovals } from './persisted-approvals.js';

/** The text for an answer to a question that is not open. */
export const notPendingText = 'This approval is not open any more.';

/** An answer that came by a channel. */
export interface GivenAnswer extends ApprovalEnd {
  readonly state: 'allowed' | 'denied';
  /** The proven sender; absent if the channel has proven none. */
  readonly answeredBy?: Principal;
}

/**
 * Takes the answer to an approval. A second answer, one to an id that is not open and one of somebody who may not answer change
 * nothing (judgement §4.19).
 *
 * @returns if it was taken, and a text for the one who gave it.
 * @throws as the journal does: it is open as before.
 */
export async function answerApproval(
  approvals: PersistedApprovals,
  row: ApprovalRow | undefined,
  end: GivenAnswer,
) {
  if (row === undefined) return { isTaken: false, text: notPendingText };
  const id = shortIdOf(row);
  const done = (text: string) => ({ isTaken: true, text: `${id} is ${text}.` });
  const { question, principal, family } = row;
  const { state, answeredBy, answeredIn, always } = end;
  if (row.state !== 'pending') await approvals.sign.give(); // whoever has ended it may have died before that
  if (row.answeredIn === undefined || row.answeredIn !== answeredIn) {
    const problem =
      whyNotAnswer({ of: question.of, principal }, answeredBy) ?? whyNotAlways(row, always);
    if (problem !== undefined) return { isTaken: false, text: problem };
    const ended = row.state === 'pending' ? await approvals.end(row, end) : undefined;
    if (ended === undefined) return { isTaken: false, text: notPendingText };
  } else if (always !== undefined) await approvals.grants.keep(row); // it is handled again: its host may have died before that
  if (always === undefined) return done(state);
  const grant = await approvals.grants.for(row).catch(() => undefined); // the log says why
  if (grant === undefined) return done(`${state}, this once: "always" could not be kept`);
  const revoking = `/approvals revoke ${shortIdOf(grant)}`;
  return done(`${state}, and for 30 days always ${scopeText(always, family)} (${revoking})`);
}

/** Says why a question cannot be answered with "always" for a scope; nothing if it can. */
export function whyNotAlways(
  row: ApprovalRow,
  always: ApprovalScope | undefined,
): string | undefined {
  const offered = offeredScopes(row);
  if (always === undefined || offered.includes(always)) return undefined;
  if (offered.length === 0) return 'This approval cannot be given for always: allow or deny it.';
  return `This approval can be given for always with: ${offered.join(', ')}.`;
}

/** Says why somebody may not answer a question; nothing if he may (judgement §4.18). */
export function whyNotAnswer(
  { of, principal }: { readonly of: Approver; readonly principal?: Principal | undefined },
  by: Principal | undefined,
): string | undefined {
  if (by === undefined) return 'You may not answer this: your channel has not proven who you are.';
  if (of === 'owner')
    return by.isOwner ? undefined : 'You may not answer this: an owner of this host has to.';
  if (of === 'principal') {
    const isSame =
      principal?.senderId === by.senderId &&
      principal.channel === by.channel &&
      principal.accountId === by.accountId;
    return isSame ? undefined : 'You may not answer this: the one who asked the agent has to.';
  }
  if (by.roles.includes(of.role)) return undefined;
  return `You may not answer this: somebody with the role "${of.role}" has to.`;
}
