import type { Clock, Logger } from 'sluice';
import type { Delivery } from 'sluice/chat';

/** The source of updates: a socket, or requests over HTTP. */
export interface Intake {
  /** The port that it listens on, if it does. */
  readonly port?: number;
  close(): Promise<void>;
}

/** The parts that an intake works with. */
export interface IntakeParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes what Slack brought: its type and its body. */
  readonly take: (type: string, body: unknown, delivery: Delivery) => void;
  /** It is over: no more will come. The reason is in our words, the detail in those of others. */
  readonly ended: (reason: string, detail: string) => void;
}
