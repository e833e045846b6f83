import type { Fence } from '@sluice/journal';
import { isOneOf, openSends, openUpdates } from '@sluice/journal/internal';
import type { ExtensionHost } from '@sluice/sdk/extension';
import {
  notifyApprover,
  sayToApprover,
  sendApproval,
  sendIdOfApproval,
  unsentEnd,
} from '../egress/ask-people.js';
import { type ApprovalRow, shortIdOf } from '../inquiries/approval-row.js';
import type { HostParts } from '../parts/parts.js';
import { freshFences, underFence, underOwnFence } from '../parts/under-fence.js';
import { unblock } from '../queue/feeder.js';
import { settleSend } from '../recovery/settle-send.js';
import { questionActs, takeQuestions } from './extension-questions.js';

/**
 * Takes over the questions that a host before this one left, and waits for the deadlines. A message with a question to a human that is
 * not answered is not begun, and holds its conversation as it did before (judgement §4.21).
 */
export async function beginInquiries(
  parts: HostParts,
  send: ExtensionHost['send'],
): Promise<Disposable> {
  const { approvals, questions } = parts;
  approvals.onEnd = (row) => goOn(parts, row);
  approvals.onUnused = (row) =>
    void reportUnused(parts, row).catch((error: unknown) => {
      parts.logger.warn('an unused answer could not be told of', { error });
    });
  await approvals.grants.drop();
  questions.begin(questionActs(parts)); // updates find them from then on
  approvals.start();
  await takeInquiries(parts, send);
  return {
    [Symbol.dispose]: () => {
      approvals.stop();
      questions.stop();
    },
  };
}

/**
 * Takes over the questions in the partitions that this host has taken since the last call, asks those that were left unasked, and forgets
 * the approvals of partitions that it has lost (durability §12.10, durability §12.11).
 *
 * @throws as the journal does.
 */
export async function takeInquiries(parts: HostParts, send: ExtensionHost['send']): Promise<void> {
  const { approvals, active, backlog } = parts;
  for (const correlationId of approvals.lost()) {
    if (active.has(correlationId)) continue; // its run ends
    backlog.blocked.delete(approvals.release(correlationId) ?? '');
    approvals.forget(correlationId);
  }
  const { all: fresh, freshFenceOf } = freshFences(parts, backlog.asked);
  const [anyFence] = fresh;
  if (anyFence === undefined) return;
  await takeQuestions(parts, send, (slot) => freshFenceOf(slot) !== undefined);
  const open = await takeApprovals(parts, anyFence, freshFenceOf);
  for (const { signal } of fresh) backlog.asked.add(signal);
  for (const row of open)
    if (row.isUnsent === true)
      void askLeft(parts, row).catch((error: unknown) => {
        parts.logger.error('an approval could not be asked', { approval: shortIdOf(row), error });
      });
}

/** Takes the approvals of the messages whose slots are fresh. @returns those that are open. */
async function takeApprovals(
  { approvals, journal }: HostParts,
  anyFence: Fence,
  freshFenceOf: (slot: number) => Fence | undefined,
): Promise<readonly ApprovalRow[]> {
  const rows = await approvals.load();
  const open: ApprovalRow[] = [];
  for (const correlationId of new Set(rows.map((row) => row.correlationId))) {
    const wanted = { eventId: correlationId, states: openUpdates, withoutBody: true };
    const [update] = await journal.updates(wanted);
    const fence = update && freshFenceOf(update.slot ?? 0);
    const own = rows.filter((row) => row.correlationId === correlationId);
    if (update === undefined) {
      await approvals.take(correlationId, own, anyFence);
      await approvals.settled(correlationId); // nobody waits for it any more
    } else if (fence !== undefined && approvals.fenceOf(correlationId)?.signal !== fence.signal) {
      // one that has begun since the partition was taken waits here already
      await approvals.take(correlationId, own, fence);
      open.push(...own.filter(({ state }) => state === 'pending'));
    }
  }
  return open;
}

/** Sends the message of a question, unless the host before this one had persisted it: then that send comes to its end. */
async function askLeft(host: HostParts, row: ApprovalRow): Promise<void> {
  const fence = host.approvals.fenceOf(row.correlationId);
  if (fence === undefined) return; // another host has taken its partition meanwhile
  const parts = underFence(host, fence);
  const { journal, approvals } = parts;
  const eventId = sendIdOfApproval(row);
  const [record] = await journal.sends({ eventId });
  if (record === undefined) return sendApproval(parts, row);
  if (isOneOf(openSends, record.state)) await settleSend(parts, record);
  const [settled] = await journal.sends({ eventId });
  if (settled?.state === 'sent') await approvals.noteSent(row);
  else if (settled !== undefined && !isOneOf(openSends, settled.state))
    await approvals.end(row, unsentEnd, fence.signal);
}

/** Begins the message of a question whose answer, or whose deadline, has come. */
function goOn(parts: HostParts, { correlationId }: ApprovalRow): void {
  const { approvals } = parts;
  if (approvals.isAsked(correlationId)) return;
  const lane = approvals.release(correlationId);
  if (lane !== undefined) unblock(parts, lane); // else its run waits here
}

/** Tells the approver that the call did not come again. */
async function reportUnused(host: HostParts, row: ApprovalRow): Promise<void> {
  const parts = underOwnFence(host, host.journal.ownership.slotOf(row.correlationId));
  if (parts.signal.aborted) return;
  const told = { id: shortIdOf(row), about: row.about, title: row.question.title };
  const content = sayToApprover(parts, row)('approval-unused', told);
  await notifyApprover(parts, row, `${sendIdOfApproval(row)}-unused`, { content });
}
