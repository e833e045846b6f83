import type { Trail } from '../../agent/index.js';
import { definedFields, type PayloadOf } from '../../kernel/index.js';
import type { PreparedSend } from '../egress/prepare-send.js';
import type { SendRecord } from '../journal/journal.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';

/** A send as it was emitted: what the journal keeps of it. */
export type Emitted = Omit<PayloadOf<'egress.preparing'>, 'accounts'>;

/** A message that was perhaps sent goes out again by the same account or not at all: no other knows its idempotency key. */
export function whyNotAgain(
  { outcome, cancel }: PreparedSend,
  account: RunningAccount | undefined,
): string | undefined {
  if (cancel !== undefined) return `egress.preparing cancelled it: ${cancel.code}`;
  if (outcome.status !== 'passed') return `egress.preparing ${outcome.status} it`;
  const { channel, accountId } = { ...outcome.payload, ...outcome.selection?.target };
  if (account?.channel.id === channel && account?.accountId === accountId) return undefined;
  return 'another account was chosen for it';
}

/** Ends a send as failed, without judging it again. */
export async function giveUp(
  parts: HostParts,
  trail: Trail,
  { sendId, attempts, channel, accountId }: SendRecord,
  emitted: Emitted,
  end: { readonly cause: 'ambiguous' | 'aborted'; readonly error: string },
): Promise<void> {
  const { explicit: _, ...outbound } = emitted;
  const { error } = end;
  parts.sendEnds.failed++;
  await parts.journal.endSend(sendId, { state: 'failed', cause: end.cause, reason: error });
  parts.logger.error('a send that was left open counts as failed', {
    sendId,
    code: end.cause,
    detail: error,
  });
  try {
    await trail.dispatch('egress.failed', {
      ...outbound,
      ...definedFields({ channel, accountId }),
      ...end,
      attempts,
      durationMs: 0, // of the send, as this host knows it
    });
  } catch (thrown) {
    parts.logger.error('the end of a send was not dispatched', { sendId, error: thrown });
  }
}
