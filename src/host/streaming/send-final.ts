import type { Trail } from '../../agent/index.js';
import type { SendApproval, StreamApproval } from '../../channel/index.js';
import { type AttemptResult, answerOf, tellSending } from '../egress/send-attempt.js';
import type { SendParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import type { SenderDriver } from './sender-driver.js';

/** The parts that show the final of a stream. */
export interface FinalSend {
  readonly account: RunningAccount;
  /** The final that `egress.preparing` has passed. */
  readonly final: SendApproval;
  readonly driver: SenderDriver;
  readonly approval: StreamApproval;
  readonly signal: AbortSignal;
}

/**
 * Has a stream's sender show its final, under a permit of its own (spec §14.9). Whatever comes of it, the final is
 * never shown twice: it is said not to be shown only where its permit was not taken, and can be taken no more. A
 * preview of what was not delivered is taken back.
 */
export async function sendFinal(
  parts: SendParts,
  trail: Trail,
  { account, final, driver, approval, signal }: FinalSend,
): Promise<AttemptResult> {
  const { attachments, interactive } = final.message;
  const isPlain = attachments.length === 0 && interactive === undefined;
  if (signal.aborted || !approval.fits(final) || !isPlain) {
    await driver.abort();
    return signal.aborted ? { status: 'aborted' } : { status: 'not-shown' };
  }
  const permit = approval.admitFinal(final);
  if (!(await tellSending(trail, final, permit, signal))) {
    await driver.abort();
    return { status: 'aborted' };
  }
  const end = await driver.finish({ phase: 'final', content: final.message.content });
  const wasTaken = permit.used;
  if (!wasTaken) {
    permit.take(); // so that a sender that is late cannot show it beside the send that follows
    await driver.abort();
    if (end.status === 'aborted') return end;
    if (end.status !== 'returned') return { status: 'not-shown' };
    const reason = `the stream sender of channel "${account.channel.id}" took no message from the permit of its final`;
    return { status: 'threw', reason };
  }
  const { reported } = approval;
  const result = reported === undefined ? impliedBy(end, parts) : answerOf(reported);
  if (result.status === 'sent') driver.close();
  else await driver.abort(); // it knows what of it is a preview still
  return result;
}

/** Says what the end of `onFinal` means by itself, if the permit was taken. */
function impliedBy(
  end: Awaited<ReturnType<SenderDriver['finish']>>,
  { sendTimeoutMs }: SendParts,
): AttemptResult {
  switch (end.status) {
    case 'returned':
      return { status: 'sent', receipt: {} };
    case 'threw':
    case 'aborted':
      return end;
    case 'late':
      return {
        status: 'ambiguous',
        reason: `the stream sender did not answer within ${sendTimeoutMs} ms`,
      };
  }
}
