import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A message that the provider has for the host. It is brought again at each start until it is acknowledged. */
export interface ProviderUpdate {
  readonly id: string;
  readonly raw: { readonly text: string; readonly conversation: string };
}

/** One send that reached the provider. */
export interface Arrival {
  readonly key: string;
  readonly content: string;
  readonly conversation: string;
}

/** What a killing waits for, or the milliseconds from the start. */
export type Moment =
  | { readonly on: 'send' | 'answer' | 'ack'; readonly nth: number }
  | { readonly afterMs: number };

const program = fileURLToPath(new URL('host.mjs', import.meta.url));

/**
 * The provider of a channel, and what kills the host that it talks to. It lives on: what it has acknowledged, and what
 * has reached it, is what the host's journal is measured by.
 */
export class Provider {
  readonly acknowledged = new Set<string>();
  /** Everything that reached it, in order, the second time as well. */
  readonly arrivals: Arrival[] = [];
  readonly #journal: string;
  readonly #policy: 'fail' | 'resend';
  readonly #waiting = new Map<string, ProviderUpdate>();

  constructor(journal: string, policy: 'fail' | 'resend') {
    this.#journal = journal;
    this.#policy = policy;
  }

  /** Runs a host, brings it what waits and what is new, and kills it. */
  async round(updates: readonly ProviderUpdate[], moment: Moment): Promise<void> {
    for (const update of updates) this.#waiting.set(update.id, update);
    const child = fork(program, [this.#journal, this.#policy], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const exit = once(child, 'exit');
    const seen = { send: 0, answer: 0, ack: 0 };
    const kill = (): void => void child.kill('SIGKILL');
    const count = (kind: keyof typeof seen): boolean => {
      const isDue = 'on' in moment && moment.on === kind && ++seen[kind] === moment.nth;
      if (isDue) kill();
      return isDue;
    };
    child.on('message', (message: Said) => {
      if (message.ready === true) {
        for (const update of this.#waiting.values()) tell(child, { update });
        // also where the event that was waited for never comes
        setTimeout(kill, 'afterMs' in moment ? moment.afterMs : 400);
      }
      if (message.ack !== undefined) {
        this.acknowledged.add(message.ack);
        this.#waiting.delete(message.ack);
        count('ack');
      }
      if (message.send !== undefined) {
        this.arrivals.push(message.send);
        if (count('send')) return; // it has it, and nobody learns so
        tell(child, { answer: message.send.key });
        count('answer');
      }
    });
    const [, signal] = (await exit) as [number | null, string | null];
    if (signal !== 'SIGKILL') throw new Error('the host ended by itself');
  }

  get waiting(): number {
    return this.#waiting.size;
  }
}

interface Said {
  readonly ready?: boolean;
  readonly ack?: string;
  readonly send?: Arrival;
}

function tell(child: ChildProcess, message: object): void {
  if (child.connected) child.send(message, () => undefined); // it may be dead already
}
