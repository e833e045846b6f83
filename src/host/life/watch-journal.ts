import type { ExtensionHost } from '@sluice/sdk/extension';
import { type ErrorCode, Timer } from 'sluice-kernel/internal';
import type { HostParts } from '../parts/parts.js';
import { feed, patrol, rewind, unblockAll } from '../queue/feeder.js';
import { resumeSends } from '../queue/resume-all.js';
import { takeInquiries } from '../receive/left-inquiries.js';

/** Milliseconds between two looks. */
const lookEveryMs = 1_000;

/**
 * Looks now and then whether the journal holds something to claim: a dead letter that an operator wants tried again,
 * or a message that had to wait because the journal could not be written to. It looks at once if other hosts may have left or brought
 * something, and now and then for updates that were missed. A journal that takes nothing in is reported
 * once, and once more when it takes in again. A look costs one read of a counter, and one look at each of its files.
 */
export function watchJournal(parts: HostParts, send: ExtensionHost['send']): Disposable {
  const { clock, journal, outbox, backlog, logger, approvals } = parts;
  const { shares, troubles, room, active } = parts;
  const timer = new Timer(clock);
  let isOver = false;
  let isLooking = false;
  let isHinted = false;
  let told: ErrorCode | undefined;
  const isUsable = (): boolean => {
    const error = journal.problem();
    if (error?.code !== told) {
      if (error === undefined) logger.info('the journal takes updates and sends in again');
      else
        logger.error(
          `the journal takes nothing in (${error.code}): nothing is acknowledged or sent`,
          { code: error.code, error },
        );
    }
    told = error?.code;
    return error === undefined;
  };
  const look = async (): Promise<void> => {
    isLooking = true;
    const isToRewind = backlog.isToRewind;
    backlog.isToRewind = false; // who asks for it from now on is heard by the next look, too: this one may not see it all
    try {
      const isChanged = journal.changedOutside();
      const isFit = isUsable();
      if (isFit) await takeInquiries(parts, send);
      if (isChanged || (isFit && (await approvals.areAnswered()))) await approvals.look();
      if (isFit) await outbox.persistSent();
      if (isFit) {
        await patrol(parts);
        unblockAll(parts);
        await resumeSends(parts);
      }
      if (isFit && (isChanged || isToRewind || backlog.isToRewind)) await rewind(parts);
      else {
        backlog.isToRewind ||= isToRewind || isChanged;
        await feed(parts); // there may be room that no event has told of
      }
      shares.wake();
      await troubles.look(isChanged);
    } catch (error) {
      logger.error('the journal could not be read', { error });
      backlog.isToRewind = true;
    }
    isLooking = false;
    if (!isOver) arm();
  };
  const arm = (): void => {
    const waitMs = isHinted ? 0 : lookEveryMs;
    isHinted = false;
    timer.setIdly(waitMs, () => void look());
  };
  const hint = (): void => {
    room.keepOnly(active); // partitions may have been elsewhere
    backlog.isToRewind = true;
    isHinted = true;
    if (!isLooking) arm(); // else it looks again
  };
  arm();
  const hinted = journal.ownership.onWork(hint);
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      hinted[Symbol.dispose]();
      timer.clear();
    },
  };
}
