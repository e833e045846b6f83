import { Trail } from '../../agent/index.js';
import { type ApprovalRow, shortIdOf } from '../approvals/approval-row.js';
import { sendApproval, sendIdOfApproval } from '../egress/ask-people.js';
import { deliver } from '../egress/delivery.js';
import { isOneOf, openSends, openUpdates } from '../journal/journal.js';
import type { HostParts } from '../parts/parts.js';
import { underOwnHold } from '../parts/under-hold.js';
import { rewind } from '../queue/feeder.js';
import { settleSend } from '../recovery/settle-send.js';

/**
 * Reads the approvals that a host before this one left. A message with a question that is not answered is not begun, and holds its
 * conversation as it did before (judgement §4.21).
 */
export async function loadApprovals(parts: HostParts): Promise<void> {
  const { approvals, journal, backlog } = parts;
  await approvals.load({
    onEnd: (row) => goOn(parts, row),
    onUnused: (row) => void tellUnused(parts, row),
  });
  for (const correlationId of approvals.messages()) {
    const open = { eventId: correlationId, states: openUpdates, withoutBody: true };
    const [update] = await journal.updates(open);
    if (update === undefined) {
      await approvals.settled(correlationId); // nobody waits for it any more
      continue;
    }
    if (!approvals.of(correlationId).some(({ state }) => state === 'pending')) continue;
    const lane = update.lane ?? '';
    approvals.hold(correlationId, lane);
    backlog.heldUp.add(lane);
  }
}

/** Asks what the host before this one had kept and not asked, and waits for the deadlines. */
export function beginApprovals(parts: HostParts): Disposable {
  const { approvals, logger } = parts;
  for (const row of approvals.pending())
    if (row.isUnsent === true)
      void askLeft(parts, row).catch((error: unknown) => {
        logger.error('an approval could not be asked', { approval: shortIdOf(row), error });
      });
  approvals.start();
  return { [Symbol.dispose]: () => approvals.stop() };
}

/** Sends the message of a question, unless the host before this one had kept it: then that send comes to its end. */
async function askLeft(host: HostParts, row: ApprovalRow): Promise<void> {
  const parts = underOwnHold(host, row.correlationId);
  const { journal, approvals } = parts;
  const eventId = sendIdOfApproval(row);
  const [record] = await journal.sends({ eventId });
  if (record === undefined) return sendApproval(parts, row, row.address);
  if (isOneOf(openSends, record.state)) await settleSend(parts, record);
  const [settled] = await journal.sends({ eventId });
  if (settled?.state === 'sent') await approvals.noteSent(row);
  else if (settled?.state === 'cancelled')
    await approvals.end(row, { state: 'withdrawn', reason: 'the question could not be sent' });
}

/** Begins the message of a question whose answer, or whose deadline, has come. */
function goOn(parts: HostParts, { correlationId }: ApprovalRow): void {
  const { approvals, backlog, logger } = parts;
  if (approvals.of(correlationId).some(({ state }) => state === 'pending')) return;
  const lane = approvals.release(correlationId);
  if (lane === undefined) return; // its run waits here
  backlog.heldUp.delete(lane);
  rewind(parts).catch((error: unknown) => logger.error('the journal could not be read', { error }));
}

/** Tells the approver that the call did not come again. */
async function tellUnused(host: HostParts, row: ApprovalRow): Promise<void> {
  const parts = underOwnHold(host, row.correlationId);
  const { kernel, options, signal } = parts;
  const { correlationId, about, question } = row;
  const { to } = options.approvals ?? {};
  const address = to === undefined ? row.address : { ...to, explicit: to.accountId !== undefined };
  if (address === undefined || signal.aborted) return;
  const content = `${shortIdOf(row)} was allowed, and was not used: ${about} did not come again ("${question.title}").`;
  const trail = new Trail(kernel, undefined, { correlationId });
  const outgoing = { ...address, kind: 'approval' as const, content };
  await deliver(parts, trail, outgoing, signal, `${sendIdOfApproval(row)}-unused`);
}
