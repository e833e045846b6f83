import { expect } from 'vitest';
import type { UpdateRecord } from '../../../src/journal/index.js';

/** An extension has asked about a message: the question, or the code of the refusal. */
export interface Wondered {
  readonly message: string;
  readonly id?: string;
  readonly code?: string;
}

/** The extension gets the end of its question. */
export interface Confirmed {
  readonly id: string;
  readonly status: string;
  readonly answer?: string;
  readonly message: string;
  readonly attempt: number;
}

const button = /^sluice:q:(.*):0$/;

/** The questions that an extension of the hosts asks, one of each message that it wonders about, and the answers to them. */
export class Confirms {
  /** The sends of questions as they came, by the messages. */
  readonly #sends = new Map<string, Set<string>>();
  /** The messages whose question was persisted, by the ids of their questions. */
  readonly #kept = new Map<string, string>();
  readonly #confirmed = new Map<string, Confirmed[]>();
  readonly #refusals = new Map<string, number>();
  readonly #add: (updateId: string, raw: object) => void;
  /** The answers that are still to come. */
  #answering = 0;

  /** @param add brings an update. */
  constructor(add: (updateId: string, raw: object) => void) {
    this.#add = add;
  }

  isOf(press: string): boolean {
    return button.test(press);
  }

  wondered({ message, id, code = 'none' }: Wondered): void {
    if (id !== undefined) this.#kept.set(id, message);
    else this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  confirmed(end: Confirmed): void {
    this.#confirmed.set(end.message, [...(this.#confirmed.get(end.message) ?? []), end]);
  }

  /** A question came. It is answered by its button, by a text, or by both, of which one comes too late. */
  asked(key: string, press: string, content: string): void {
    const [, message = ''] = /^Confirm (.*)\?$/.exec(content) ?? [];
    const before = this.#sends.get(message);
    this.#sends.set(message, new Set([...(before ?? []), key]));
    if (before !== undefined) return;
    const conversation = `w-${message}`;
    const how = Math.random();
    if (how < 0.7) this.#later(`picks ${message}`, { press, conversation });
    if (how > 0.4) this.#later(`says ${message}`, { text: `reply w-${message}`, conversation });
  }

  #later(updateId: string, raw: object): void {
    this.#answering++;
    setTimeout(() => {
      this.#answering--;
      this.#add(updateId, raw);
    }, Math.random() * 1_000);
  }

  /** The questions without an end: each that was persisted is to have one. */
  open(): string[] {
    const messages = new Set([...this.#kept.values(), ...this.#sends.keys()]);
    return [...messages].filter((message) => !this.#confirmed.has(message));
  }

  get left(): number {
    return this.open().length + this.#answering;
  }

  /** Checks that each question that was persisted came once, has one answer that was taken, and that the extension got this one. */
  check(rows: readonly UpdateRecord[]): void {
    const problems: unknown[] = [];
    for (const [id, message] of this.#kept) {
      const answers = rows.filter(({ updateId }) =>
        [`picks ${message}`, `says ${message}`].includes(updateId ?? ''),
      );
      const taken = answers.filter(({ outcome }) => outcome === 'answer');
      const jobs = rows.filter(({ channel, updateId }) => channel !== 'far' && updateId === id);
      const ends = this.#confirmed.get(message) ?? [];
      const isPicked = taken[0]?.updateId?.startsWith('picks ');
      const found = {
        message,
        sends: this.#sends.get(message)?.size,
        taken: taken.length,
        jobs: jobs.map(({ state, outcome }) => `${state} ${outcome}`),
        got: [...new Set(ends.map(({ id: of, status, answer }) => [of, status, answer].join(' ')))],
        isAtEachAttemptOnce: ends.length <= (jobs[0]?.attempts ?? 0),
      };
      const expected = {
        message,
        ...{ sends: 1, taken: 1, jobs: ['ended job'] },
        got: [`${id} answered ${isPicked ? 'Yes' : `reply w-${message}`}`],
        isAtEachAttemptOnce: true,
      };
      if (JSON.stringify(found) !== JSON.stringify(expected))
        problems.push(
          found,
          ...answers.map(({ updateId, outcome, attempts }) => ({ updateId, outcome, attempts })),
        );
    }
    expect(problems).toEqual([]);
    console.log(
      `${this.#kept.size} questions of an extension, refused: ${JSON.stringify([...this.#refusals])}`,
    );
  }
}
