import type { InboundUpdate } from '../../channel/index.js';
import { definedFields, oneLine } from '../../kernel/index.js';
import type { MessageEnd } from '../journal/message-end.js';
import { logJournalFailure } from '../outbox/journal-failure.js';
import type { HostParts } from '../parts/parts.js';
import type { RunningAccount } from '../provided/accounts.js';
import type { TakenUpdate } from './taken-update.js';

/** Ends an update that is kept, and tells how. Never rejects. */
export async function endUpdate(
  parts: HostParts,
  { eventId, account, update }: Pick<TakenUpdate, 'eventId' | 'account' | 'update'>,
  end: MessageEnd,
): Promise<void> {
  const { journal, counts, backlog, leftOpen, logger } = parts;
  const { status, reason } = end;
  const isLeft = status === 'aborted' && parts.signal.aborted; // the host had no time for it: it has not ended
  if (!isLeft) {
    const isDead = status === 'failed' || status === 'undecodable';
    if (isDead && journal.outlivesHost) counts.deadLetters++;
    backlog.begun.delete(eventId);
    if (!journal.outlivesHost) await acknowledge(parts, account, update);
    const why = reason === undefined ? {} : { reason: oneLine(reason) };
    try {
      await journal.endUpdate(eventId, { isDead, outcome: status, ...why });
      parts.questions.settled(eventId);
      await parts.approvals.settled(eventId);
    } catch (error) {
      logJournalFailure(logger, 'the end of an update was not kept', { eventId, error });
      leftOpen.add(eventId); // its sends are kept: they are not sent again
    }
  }
  tellMessageEnd(parts, end);
}

/** Tells the provider that an update need not come again. Never rejects. */
export async function acknowledge(
  parts: HostParts,
  account: RunningAccount,
  update: InboundUpdate,
): Promise<void> {
  const { accountId } = account;
  // a reload may have put another channel in its place while the update was handled
  const { channel } = parts.accounts.find(account.channel.id, accountId) ?? account;
  try {
    await channel.ack?.(accountId, update);
  } catch (error) {
    parts.logger.warn('an update was not acknowledged', { channel: channel.id, error });
  }
}

/** Tells the maker of the host how a message ended. Never throws. @param level of its line in the log. */
export function tellMessageEnd(
  parts: HostParts,
  end: MessageEnd,
  level: 'info' | 'debug' = 'info',
): void {
  const { status, channel, accountId, agentId, sessionKey, reason, correlationId } = end;
  const about = { channel, accountId, eventId: correlationId, agentId, sessionKey, detail: reason };
  parts.logger[level](`a message has ended: ${status}`, definedFields(about));
  try {
    parts.options.onMessageEnd?.(end);
  } catch (error) {
    parts.logger.error('onMessageEnd threw', { error });
  }
}
