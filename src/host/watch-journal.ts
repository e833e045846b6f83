import type { TimerHandle } from '../kernel/index.js';
import type { KeepingParts } from './kept-updates.js';
import { resumeUpdates } from './resume.js';

/** Milliseconds between two looks. */
const lookEveryMs = 1_000;

/**
 * Looks now and then whether the journal holds something to take up: a dead letter that an operator wants tried again,
 * or a message that had to wait because the journal could not be written to. A look costs one read of a counter.
 */
export function watchJournal(parts: KeepingParts): Disposable {
  const { clock, journal, leftOpen, logger } = parts;
  let timer: TimerHandle;
  let isOver = false;
  const look = async (): Promise<void> => {
    try {
      if (journal.changedOutside() || leftOpen.size > 0) {
        leftOpen.clear();
        await resumeUpdates(parts);
      }
    } catch (error) {
      logger.error('the journal could not be read', { error });
    }
    if (!isOver) arm();
  };
  const arm = (): void => {
    timer = clock.setTimeout(() => void look(), lookEveryMs);
    timer.unref?.();
  };
  arm();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      clock.clearTimeout(timer);
    },
  };
}
