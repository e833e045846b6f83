import type { UpdateFilter, UpdateRecord } from '@sluice/journal';
import { openUpdates } from '@sluice/journal/internal';
import { isSluiceError } from 'sluice-kernel';
import { decodeUpdate, laneOf } from '../ingress/decode-update.js';
import { updateOf } from '../ingress/received-update.js';
import type { HostParts } from '../parts/parts.js';

const never = AbortSignal.abort();

/**
 * Reads open updates without their bodies, in the partitions whose questions to humans the host has read before. The caller reads an
 * update again when it claims it. An update that an older version kept without its lane is read whole, since its body names the
 * lane. An update with a damaged row is passed over and logged once; only the work that needs that row fails (durability §1.6).
 *
 * @returns the rows in their order, and whether none are behind them (`areLast`).
 * @throws every other error of the journal.
 */
export async function readOpen(
  parts: HostParts,
  filter: Pick<UpdateFilter, 'lane'> & { readonly afterSeq: number; readonly limit: number },
) {
  const { journal, backlog } = parts;
  const { ownership } = journal;
  const open = { states: openUpdates };
  const isRead = (partition: number): boolean =>
    backlog.asked.has(ownership.fenceOf(partition)?.signal ?? never);
  const own = { parts: ownership.partitions().filter(isRead) };
  let { afterSeq, limit } = filter;
  for (;;)
    try {
      const wanted = { ...filter, ...open, ...own, afterSeq, limit, withoutBody: true };
      const rows = await journal.updates(wanted);
      const whole: UpdateRecord[] = [];
      for (const row of rows)
        if (row.lane !== undefined) whole.push(row);
        else whole.push(...(await journal.updates({ ...open, eventId: row.eventId })));
      return { rows: whole, areLast: rows.length < limit };
    } catch (error) {
      const damaged = damagedRowOf(error);
      if (damaged === undefined || damaged <= afterSeq) throw error;
      if (limit > 1) {
        limit = 1; // those before it are good
        continue;
      }
      afterSeq = damaged;
      isDamageReported(parts, error);
    }
}

/** Returns whether an update is of a partition of this host. */
export function isOwn({ journal }: HostParts, { slot = 0 }: { readonly slot?: number }): boolean {
  return journal.ownership.fenceOf(slot) !== undefined;
}

/** Returns the lane of an update of this host. Returns nothing if its account does not run: it is read again when that is started. */
export function laneOfRow(parts: HostParts, row: UpdateRecord): string | undefined {
  const { account, update } = updateOf(parts, row);
  if (account === undefined || !isOwn(parts, row)) return undefined;
  return row.lane ?? laneOf(parts, account, decodeUpdate(parts, account, update));
}

/** Returns whether an update keeps no other one of its lane waiting: it is active, or this host cannot claim it. */
export function isPassed({ active, backlog }: HostParts, { eventId, seq }: UpdateRecord): boolean {
  return active.has(eventId) || backlog.damaged.has(seq);
}

/**
 * Returns whether the next update of a lane may begin. If not, its lane is blocked: it waits until the journal has the end of its send, or
 * until a person has answered.
 */
export function mayBegin(parts: HostParts, lane: string, { eventId }: UpdateRecord): boolean {
  const isBlocked = parts.outbox.owes(eventId) || parts.approvals.block(eventId, lane);
  if (isBlocked) parts.backlog.blocked.set(lane, 'blocked');
  return !isBlocked;
}

/** Tells of a damaged update, once, if that is what an error is about: it is not read again. @returns whether it is. */
export function isDamageReported({ backlog, logger }: HostParts, error: unknown): boolean {
  const damaged = damagedRowOf(error);
  if (damaged === undefined) return false;
  if (!backlog.damaged.has(damaged)) {
    backlog.damaged.add(damaged);
    logger.error('an update of the journal is damaged, and is not handled', { error });
  }
  return true;
}

/** The number of the damaged row that an error tells of. */
function damagedRowOf(error: unknown): number | undefined {
  if (!isSluiceError(error) || error.code !== 'database-damaged') return undefined;
  const { table, seq } = error.details;
  return table === 'updates' && typeof seq === 'number' ? seq : undefined;
}
