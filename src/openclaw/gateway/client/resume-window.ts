import { type Clock, Timer } from 'sluice-kernel/internal';
import type { LostReason } from '../protocol/chat-event.js';
import type { Hello } from '../protocol/hello.js';

/** Decides when the runs of a lost connection are lost, too: they survive a short drop (stream §2.6). */
export function resumeWindow(
  windowMs: number,
  clock: Clock,
  lose: (reason: LostReason, error: string) => void,
) {
  let welcomedAtMs: number | undefined;
  const timer = new Timer(clock);
  const clear = (): void => timer.clear();

  return {
    /** Begins the window: the connection is gone. */
    open(): void {
      if (timer.isSet) return;
      timer.setIdly(windowMs, () =>
        lose('gateway-disconnected', `the gateway was not connected for ${windowMs} ms`),
      );
    },

    /**
     * Ends the window: the connection is there again. A gateway that has begun since the last welcome knows none of its
     * runs.
     */
    close(hello: Hello): void {
      clear();
      const now = clock.monotonicMs();
      const before = welcomedAtMs;
      const uptimeMs = hello.snapshot?.uptimeMs;
      welcomedAtMs = now;
      if (before !== undefined && uptimeMs !== undefined && uptimeMs < now - before)
        lose('gateway-restarted', 'the gateway was restarted in the middle of the run');
    },
    clear,
  };
}

/** The parts of `resumeWindow` that others use. */
export type ResumeWindow = ReturnType<typeof resumeWindow>;
