import type { Update } from 'grammy/types';
import type { Clock, Logger } from 'sluice';

/** The source of updates: polling, or a webhook. */
export interface Intake {
  /** Takes no more in; what is in flight is given up, and comes again. */
  stop(): Promise<void>;
  /** Says that an update is done with: it needs not come again. */
  finish(updateId: number): void;
  /** Lets go of everything. What is done with is confirmed, if that can be. */
  close(): Promise<void>;
}

/** The events that an intake tells of. */
interface IntakeSink {
  /** A new update. Resolves when more may come; never rejects. @returns `refused` where it is to be brought again. */
  readonly take: (update: Update) => Promise<'refused' | undefined>;
  /** It is over: no more will come. The reason is in our words, the detail in those of others. */
  readonly ended: (reason: string, detail: string) => void;
}

/** The parts that every intake works with. */
export interface IntakeParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly sink: IntakeSink;
}
