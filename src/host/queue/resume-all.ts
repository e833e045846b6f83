import type { SendRecord } from '@sluice/journal';
import { openSends, openUpdates } from '@sluice/journal/internal';
import type { HostParts } from '../parts/parts.js';
import { freshFences, underFenceOf } from '../parts/under-fence.js';
import type { Emitted } from '../recovery/settle-preview.js';
import { settleSend } from '../recovery/settle-send.js';
import { rewind, unblockAll } from './feeder.js';

/** Rows that are read at a time. */
const page = 1_000;

/**
 * Claims the updates that a host before this one has left (spec durability §7), and the sends that belong to none of
 * them. As many updates as may run next take their places before it resolves. An update of an account that does not run
 * waits for it.
 */
export async function resumeAll(parts: HostParts): Promise<void> {
  const { logger, counts, backlog } = parts;
  await rewind(parts);
  const sends = await resumeSends(parts);
  const updates = counts.resumed;
  if (updates + sends > 0)
    logger.info(`claimed from the journal: ${updates} messages, ${sends} sends`, {
      updates,
      sends,
      isAll: !backlog.isBehind, // else more are claimed when these have ended
    });
}

/** Claims updates, and sends of no update, that have waited for an account that a reload has started (durability §7.1). */
export async function resumeWaiting(parts: HostParts): Promise<void> {
  const { journal, backlog } = parts;
  unblockAll(parts, true);
  await rewind(parts);
  for (const eventId of [...backlog.waitingSends]) {
    const [record] = await journal.sends({ eventId, states: openSends });
    if (!backlog.waitingSends.delete(eventId)) continue; // another reload has claimed it
    if (record !== undefined) settleLater(parts, record);
  }
}

/**
 * Brings the open sends that belong to no open update to their end, those to one address one after the other: those of the partitions
 * that this host has taken since the last call. A send that answers nothing belongs to no update: another host may have that.
 *
 * @returns how many.
 */
export async function resumeSends(parts: HostParts): Promise<number> {
  const { journal, outbox, backlog } = parts;
  const { all: fresh, freshFenceOf } = freshFences(parts, backlog.claimed);
  const left: SendRecord[] = [];
  for (let afterSeq = 0, areLast = fresh.length === 0; !areLast; ) {
    const rows = await journal.sends({ states: openSends, afterSeq, limit: page });
    areLast = rows.length < page;
    for (const record of rows) {
      afterSeq = record.seq;
      if (freshFenceOf(record.slot) === undefined || outbox.isOpenHere(record.sendId)) continue;
      if (!(await hasOpenUpdate(parts, record))) left.push(record); // else its message settles it
    }
  }
  for (const { signal } of fresh) backlog.claimed.add(signal); // not before all is read: the journal may fail
  for (const record of left) settleLater(parts, record);
  return left.length;
}

/** Settles a send when those before it to its address are. One whose account does not run waits for it. */
function settleLater(parts: HostParts, record: SendRecord): void {
  const { backlog, sendLanes, logger } = parts;
  const { sendId, channel, accountId, body } = record;
  const settleInOrder = async (): Promise<void> => {
    const { to } = JSON.parse(body) as Emitted; // as the outbox wrote it
    const lane = JSON.stringify(['left', channel, accountId, to]);
    await sendLanes.run(lane, settle);
  };
  const settle = async (): Promise<void> => {
    const fenced = underFenceOf(parts, record.slot);
    if (fenced !== undefined && !(await settleSend(fenced, record)))
      backlog.waitingSends.add(sendId);
  };
  settleInOrder().catch((error: unknown) => {
    backlog.waitingSends.add(sendId); // the next reload tries again
    logger.error('a send of the journal could not be claimed', { sendId, error });
  });
}

async function hasOpenUpdate(
  { journal, active }: HostParts,
  { correlationId, kind }: SendRecord,
): Promise<boolean> {
  if (correlationId === undefined || kind === 'unprompted') return false;
  if (active.has(correlationId)) return true;
  const open = await journal.updates({ eventId: correlationId, states: openUpdates, limit: 1 });
  return open.length > 0;
}
