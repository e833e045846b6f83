import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

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

/** A reply that is shown, or was begun to be: a preview until it is final. */
export interface Shown {
  /** Of the send that opened it. */
  readonly key: string;
  readonly text: string;
  readonly isFinal: boolean;
}

/** An act of a host at its provider. */
export const acts = ['send', 'answer', 'ack', 'show', 'edit', 'remove', 'tool'] as const;
type Act = (typeof acts)[number];

/** What a killing waits for, or the milliseconds from the start. */
export type Moment = { readonly on: Act; readonly nth: number } | { readonly afterMs: number };

/**
 * The provider of a channel, and what kills the host that it talks to. It lives on: what it has acknowledged, and what
 * has reached it, is what the host's journal is measured by.
 */
export class Provider {
  readonly acknowledged = new Set<string>();
  /** Everything that reached it, in order, the second time as well. */
  readonly arrivals: Arrival[] = [];
  /** The replies that grew, as people see them, by their ids. */
  readonly screen = new Map<number, Shown>();
  /** How often a host has ended the preview of a host before it. */
  readonly ended = { takenBack: 0, completed: 0 };
  /** How often hosts were killed at each act, and at none. */
  readonly killedAt = new Map<Act | 'a time', number>();
  #lastId = 0;
  readonly #program: string;
  readonly #journal: string;
  readonly #policy: 'fail' | 'resend';
  readonly #keepBytes: number;
  readonly #slowness: number;
  readonly #waiting = new Map<string, ProviderUpdate>();

  /** @param slowness a factor for the pauses of the agent and the life of a host: a write to some journals takes longer. */
  constructor(
    program: string,
    journal: string,
    policy: 'fail' | 'resend',
    keepBytes: number,
    slowness = 1,
  ) {
    this.#slowness = slowness;
    this.#program = program;
    this.#journal = journal;
    this.#policy = policy;
    this.#keepBytes = keepBytes;
  }

  /** Runs a host, brings it what waits and what is new, and kills it. */
  async round(updates: readonly ProviderUpdate[], moment: Moment): Promise<void> {
    for (const update of updates) this.#waiting.set(update.id, update);
    const child = fork(
      this.#program,
      [this.#journal, this.#policy, ...[this.#keepBytes, this.#slowness].map(String)],
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    );
    const exit = once(child, 'exit');
    const silence = once(child, 'disconnect'); // what it had said before it died was done
    const seen = new Map<Act, number>();
    let killedAt: Act | 'a time' | undefined;
    const kill = (at: Act | 'a time'): void => {
      killedAt ??= at;
      child.kill('SIGKILL');
    };
    const count = (act: Act): boolean => {
      seen.set(act, (seen.get(act) ?? 0) + 1);
      const isDue = 'on' in moment && moment.on === act && seen.get(act) === moment.nth;
      if (isDue) kill(act);
      return isDue;
    };
    let timer: NodeJS.Timeout | undefined;
    child.on('message', (message: Said) => {
      if (message.ready === true) {
        for (const update of this.#waiting.values()) tell(child, { update });
        // also where the event that was waited for never comes
        const afterMs = 'afterMs' in moment ? moment.afterMs : 1_000;
        timer = setTimeout(() => kill('a time'), afterMs * this.#slowness);
      }
      if (message.ack !== undefined) {
        this.acknowledged.add(message.ack);
        this.#waiting.delete(message.ack);
        count('ack');
      }
      if (message.asked !== undefined) {
        const { number, show, edit, remove, ends } = message.asked;
        const value = this.#perform(message.asked);
        if (ends !== undefined) this.ended[ends]++;
        // it is done, and nobody learns so
        if (count(show !== undefined ? 'show' : edit !== undefined ? 'edit' : 'remove')) return;
        tell(child, { answered: { number, value: remove === undefined ? value : true } });
      }
      if (message.tool !== undefined) count('tool');
      if (message.send !== undefined) {
        this.arrivals.push(message.send);
        if (count('send')) return; // it has it, and nobody learns so
        tell(child, { answer: message.send.key });
        count('answer');
      }
    });
    const [, signal] = (await exit) as [number | null, string | null];
    clearTimeout(timer);
    await silence;
    if (killedAt !== undefined) this.killedAt.set(killedAt, (this.killedAt.get(killedAt) ?? 0) + 1);
    if (signal !== 'SIGKILL') throw new Error('the host ended by itself');
  }

  /** Shows, edits or removes a message. @returns its id. */
  #perform({ show, edit, remove }: Asked): number {
    if (show !== undefined) {
      this.screen.set(++this.#lastId, { ...show, isFinal: false });
      return this.#lastId;
    }
    const id = edit?.id ?? remove?.id ?? 0;
    const shown = this.screen.get(id);
    if (shown !== undefined && edit !== undefined)
      this.screen.set(id, { ...shown, text: edit.text, isFinal: edit.isFinal === true });
    if (remove !== undefined) this.screen.delete(id);
    return id;
  }

  get waiting(): number {
    return this.#waiting.size;
  }
}

/** A request of a host to its provider, which it waits for. */
interface Asked {
  readonly number: number;
  readonly show?: { readonly key: string; readonly text: string };
  readonly edit?: { readonly id: number; readonly text: string; readonly isFinal?: boolean };
  readonly remove?: { readonly id: number };
  /** A host ends what another has left. */
  readonly ends?: 'takenBack' | 'completed';
}

interface Said {
  readonly asked?: Asked;
  readonly tool?: string;
  readonly ready?: boolean;
  readonly ack?: string;
  readonly send?: Arrival;
}

function tell(child: ChildProcess, message: object): void {
  if (child.connected) child.send(message, () => undefined); // it may be dead already
}
