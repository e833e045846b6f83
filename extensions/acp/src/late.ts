import type { Clock, Logger } from 'sluice';
import type { SessionListener } from './program.js';

/** Times `lateMs`: the wait for a first word after the end of a prompt, and for the last one. */
const most = { first: 4, last: 8 };
/** The time before the next prompt of a session, in which nothing that is late is taken for its answer: times `lateMs`, too. */
export const restTimes = 3;
/** The updates that are parts of an answer. */
const isPart = /^(agent_|tool_|plan)/;

/** Waits, unless it is stopped. */
export function pause(clock: Clock, ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopped.aborted || ms <= 0) return resolve();
    const timer = clock.setTimeout(resolve, ms);
    stopped.addEventListener('abort', () => resolve(clock.clearTimeout(timer)), { once: true });
  });
}

/** Hears a turn to its last word: some programs say the end of an answer when its prompt has ended. */
export function heard(take: SessionListener['take']) {
  let updates = 0;
  let hasText = false;
  return {
    take(update: Parameters<typeof take>[0]): void {
      updates++;
      hasText ||= update.sessionUpdate === 'agent_message_chunk';
      take(update);
    },
    /** Waits until nothing has come for `lateMs`; somewhat longer if there is no text yet. */
    async out(lateMs: number, clock: Clock, stopped: AbortSignal): Promise<void> {
      for (let round = 0, before = -1; round < most.last && !stopped.aborted; round++) {
        if (updates === before && (hasText || round >= most.first)) return;
        before = updates;
        await pause(clock, lateMs, stopped);
      }
    },
  };
}

/** Listens between the turns of a session. What it hears belongs to none: the log says so once. */
export function tooLate(log: Logger, runId: string): SessionListener {
  let isTold = false;
  return {
    take({ sessionUpdate }) {
      if (isTold || !isPart.test(sessionUpdate)) return;
      isTold = true;
      const fields = { runId, detail: sessionUpdate };
      log.warn('what a program said long after the end of its turn is dropped', fields);
    },
    permit: async () => ({ outcome: 'cancelled' }),
  };
}
