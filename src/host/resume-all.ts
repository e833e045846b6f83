import { rewind } from './feeder.js';
import { openSends, openUpdates, type SendRecord } from './journal/journal.js';
import type { KeepingParts } from './keeping.js';
import { settleSend } from './settle-send.js';

/** Rows that are read at a time. */
const page = 1_000;

/**
 * Takes up what a host before this one has left (spec durability §7): updates that have not ended, and sends that belong to
 * none of them. As many updates as may run next take their places before it resolves. What belongs to an account that does
 * not run waits for it.
 */
export async function resumeAll(parts: KeepingParts): Promise<void> {
  const { logger, counts, backlog } = parts;
  await rewind(parts);
  const sends = await resumeSends(parts);
  const updates = counts.resumed;
  if (updates + sends > 0)
    logger.info(`taken up from the journal: ${updates} messages, ${sends} sends`, {
      updates,
      sends,
      isAll: !backlog.isBehind, // else more are taken up when these have ended
    });
}

/** Brings the open sends that belong to no open update to their end, one after the other. @returns how many. */
async function resumeSends(parts: KeepingParts): Promise<number> {
  const { journal, conversationLanes, logger } = parts;
  let taken = 0;
  for (let afterSeq = 0; ; ) {
    const rows = await journal.sends({ states: openSends, afterSeq, limit: page });
    for (const record of rows) {
      afterSeq = record.seq;
      if (await hasOpenUpdate(parts, record)) continue; // its message settles it
      taken++;
      const lane = JSON.stringify(['left', record.channel, record.accountId]);
      void conversationLanes
        .run(lane, () => settleSend(parts, record), { runsAtOnce: true })
        .catch((error: unknown) =>
          logger.error('a send of the journal could not be taken up', {
            sendId: record.sendId,
            error,
          }),
        );
    }
    if (rows.length < page) return taken;
  }
}

async function hasOpenUpdate(
  { journal, inHand }: KeepingParts,
  { correlationId }: SendRecord,
): Promise<boolean> {
  if (correlationId === undefined) return false;
  if (inHand.has(correlationId)) return true;
  const open = await journal.updates({ eventId: correlationId, states: openUpdates, limit: 1 });
  return open.length > 0;
}
