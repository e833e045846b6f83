import { WaitingRows, type WaitingRowsParts } from '../questions/waiting-rows.js';
import type { ApprovalRow, ApprovalState } from './approval-row.js';

/** Questions to humans that a host keeps: those of messages that have not ended. */
export const approvalsAtMost = 1_000;

/** The end of a question, and who gave it. */
export type ApprovalEnd = Pick<ApprovalRow, 'state'> &
  Partial<Pick<ApprovalRow, 'answeredBy' | 'answeredIn' | 'always' | 'reason'>>;

/** The rows of questions to humans in a journal: a host's, or those that an operator looks at beside it. */
export function approvalRows(
  parts: WaitingRowsParts,
  expire: (row: ApprovalRow) => Promise<unknown> = async () => undefined,
): WaitingRows<ApprovalRow> {
  return new WaitingRows(parts, {
    prefix: '/approvals/',
    quota: { maxKeys: 2 * approvalsAtMost, maxBytes: 256 * 1024 * 1024 },
    partitionOf: () => 'asked',
    expire,
  });
}

/**
 * Takes a row from one of some states to the next, in one step with the look at it.
 *
 * @param signal of the fence of its message; absent if anybody may do so.
 * @returns the row as it is then; nothing if it was in none of those states any more.
 * @throws as the journal does: nothing has changed then.
 */
export function changeState(
  rows: WaitingRows<ApprovalRow>,
  row: ApprovalRow,
  from: readonly ApprovalState[],
  end: ApprovalEnd & Partial<Pick<ApprovalRow, 'endedAtMs'>>,
  signal?: AbortSignal,
): Promise<ApprovalRow | undefined> {
  const next = (now: ApprovalRow) => (from.includes(now.state) ? { ...now, ...end } : undefined);
  return rows.change(row, next, signal);
}
