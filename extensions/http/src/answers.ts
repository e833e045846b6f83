import type { ExtensionApi } from 'sluice';
import type { UpdateEnd } from 'sluice/channel';

/** A button under a text of an answer. A press of it goes to `/v1/presses`. */
export interface Button {
  readonly id: string;
  readonly label: string;
}

/** A text of an answer, with the field of the OpenAI API that it belongs to. */
export interface Part {
  readonly field: 'content' | 'reasoning_content';
  readonly text: string;
  /** Of a question. The text has them as numbered lines, too, for clients that show none. */
  readonly buttons?: readonly Button[];
}

/** The part of an answer that is kept for who asks again. */
interface KeptAnswer {
  /** Of its request: another one may not use its key. */
  readonly digest: string;
  /** The texts that were sent, by the keys of their sends: one that is sent again changes nothing. */
  readonly parts: Record<string, Part>;
  /** The words for people about a failure or a cancel. */
  note?: string;
  end?: UpdateEnd;
}

/** How the id of an update begins whose request has an idempotency key. */
export const keptPrefix = 'key-';

/** The answer of one request. It grows until its update has ended. */
export class Answer {
  /** Texts that grow: they are shown, and not sent. */
  readonly growing = new Map<object, Part>();
  /** Called when it has changed; each belongs to one who waits for it. */
  readonly readers = new Set<() => unknown>();
  readonly updateId: string;
  readonly conversationId: string;
  kept: KeptAnswer;
  /** Settles when the store was read. */
  restored: Promise<void> | undefined;
  /** The agent works on it. */
  isRunning = false;
  /** Stops the turn that makes it. */
  stopTurn: (() => void) | undefined;

  constructor(updateId: string, conversationId: string, digest: string) {
    this.updateId = updateId;
    this.conversationId = conversationId;
    this.kept = { digest, parts: {} };
  }

  get isKept(): boolean {
    return this.updateId.startsWith(keptPrefix);
  }

  text(wanted: Part['field']): string {
    return [...Object.values(this.kept.parts), ...this.growing.values()]
      .flatMap(({ field, text }) => (field === wanted && text !== '' ? [text] : []))
      .join('\n\n');
  }

  /** The buttons of each question in it, in order. */
  questions(): readonly (readonly Button[])[] {
    return Object.values(this.kept.parts).flatMap(({ buttons }) => (buttons ? [buttons] : []));
  }

  /** Stops a turn whose reader has gone, and that nobody can ask for again (http §3.6). */
  stopIfUnwanted(): void {
    const isWanted = this.readers.size > 0 || this.isKept || this.kept.end !== undefined;
    if (this.isRunning && !isWanted) this.stopTurn?.();
  }

  report(): void {
    for (const read of [...this.readers]) read();
  }
}

/** The answers that are being made, and those that the store keeps. */
export class Answers {
  /** The oldest first. */
  readonly open = new Map<string, Answer>();
  readonly #store: ExtensionApi['store'];
  readonly #ttlMs: number;

  constructor(store: ExtensionApi['store'], ttlMs: number) {
    this.#store = store;
    this.#ttlMs = ttlMs;
  }

  /** Begins an answer, or finds the one of the same id. @returns it, and whether its update is to be handed over. */
  async begin(asked: Answer): Promise<{ readonly answer: Answer; readonly isNew: boolean }> {
    const answer = this.#shared(asked);
    await answer.restored;
    const { end } = answer.kept;
    if (end !== undefined) this.close(answer, end);
    return { answer, isNew: answer === asked && end === undefined };
  }

  /** Finds the answer that a send belongs to: by its address, or the newest of its conversation. */
  async at(address: string): Promise<Answer | undefined> {
    const [conversationId = '', updateId] = address.split('#');
    if (updateId === undefined)
      return [...this.open.values()].findLast((one) => one.conversationId === address);
    const answer = this.#shared(new Answer(updateId, conversationId, ''));
    await answer.restored;
    if (answer.kept.digest !== '') return answer;
    this.open.delete(updateId);
    return undefined;
  }

  /** An update has ended. Its answer is kept, unless another host is to end it. */
  async end(end: UpdateEnd): Promise<void> {
    const answer = await this.at(`#${end.updateId ?? ''}`);
    if (answer === undefined) return;
    try {
      const isWhole = end.status !== 'known' && end.status !== 'aborted';
      if (answer.isKept && isWhole) await this.keep(answer, { ...answer.kept, end });
    } finally {
      this.close(answer, end);
    }
  }

  async keep({ updateId, kept }: Answer, next: KeptAnswer = kept): Promise<void> {
    await this.#store.set<KeptAnswer>(updateId, next, { ttlMs: this.#ttlMs });
  }

  /** Nothing is added to it any more. */
  close(answer: Answer, end: UpdateEnd): void {
    answer.kept.end = end;
    this.open.delete(answer.updateId);
    answer.report();
  }

  /** The one answer of an id. All who ask at once get the same, before the store is read. */
  #shared(asked: Answer): Answer {
    const there = this.open.get(asked.updateId);
    if (there !== undefined) return there;
    this.open.set(asked.updateId, asked);
    asked.restored = this.#restore(asked);
    return asked;
  }

  /** Reads an answer of a host before this one, or keeps a new one. */
  async #restore(answer: Answer): Promise<void> {
    if (!answer.isKept) return;
    try {
      const kept = await this.#store.get<KeptAnswer>(answer.updateId);
      if (kept !== undefined) answer.kept = kept;
      else if (answer.kept.digest !== '') await this.keep(answer);
    } catch (error) {
      this.close(answer, { status: 'refused' });
      throw error;
    }
  }
}
