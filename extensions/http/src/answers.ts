import type { ExtensionApi } from 'sluice';
import type { UpdateEnd } from 'sluice/channel';

/** A text of an answer, with the field of the OpenAI API that it belongs to. */
export interface Part {
  readonly field: 'content' | 'reasoning_content';
  readonly text: string;
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

  /** Stops a turn whose reader has gone, and that nobody can ask for again (http §3.6). */
  stopIfUnwanted(): void {
    const isWanted = this.readers.size > 0 || this.isKept || this.kept.end !== undefined;
    if (this.isRunning && !isWanted) this.stopTurn?.();
  }

  tell(): void {
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
    const { updateId } = asked;
    const answer = this.open.get(updateId);
    if (answer !== undefined) return { answer, isNew: false };
    this.open.set(updateId, asked); // before anything waits: another request finds it
    try {
      if (asked.isKept && !(await this.#restore(asked))) await this.keep(asked);
    } catch (error) {
      this.close(asked, { status: 'refused' });
      throw error;
    }
    const { end } = asked.kept;
    if (end !== undefined) this.close(asked, end);
    return { answer: asked, isNew: end === undefined };
  }

  /** Finds the answer that a send belongs to: by its address, or the newest of its conversation. */
  async at(address: string): Promise<Answer | undefined> {
    const [conversationId = '', updateId] = address.split('#');
    if (updateId === undefined)
      return [...this.open.values()].findLast((one) => one.conversationId === address);
    const asked = new Answer(updateId, conversationId, '');
    return this.open.get(updateId) ?? ((await this.#restore(asked)) ? asked : undefined);
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
    answer.tell();
  }

  async #restore(answer: Answer): Promise<boolean> {
    const kept = answer.isKept ? await this.#store.get<KeptAnswer>(answer.updateId) : undefined;
    answer.kept = kept ?? answer.kept;
    return kept !== undefined;
  }
}
