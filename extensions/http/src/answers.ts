import type { ExtensionApi } from 'sluice';
import type { UpdateEnd } from 'sluice/channel';

/** The field of the OpenAI API that a text belongs to. */
export type Field = 'content' | 'reasoning_content';

/** A text of an answer. */
export interface Part {
  readonly field: Field;
  readonly text: string;
}

/** An answer as it is kept for who asks again. */
interface KeptAnswer {
  /** Of the request: another one may not use its key. */
  readonly digest: string;
  readonly parts: readonly (readonly [sendKey: string, part: Part])[];
  readonly note: string;
  readonly end: UpdateEnd | null;
}

/** How the id of an update begins whose request has an idempotency key. */
export const keptPrefix = 'key-';

/** The answer of one request: it grows until its update has ended. */
export class Answer {
  /** By the keys of their sends: one that is sent again changes nothing. */
  readonly parts = new Map<string, Part>();
  /** Texts that grow: they are shown, and not sent. */
  readonly growing = new Map<object, Part>();
  /** Called whenever it has changed; each belongs to one who waits for it. */
  readonly readers = new Set<() => void>();
  /** The words for people about a failure or a cancel. */
  note = '';
  end: UpdateEnd | undefined;
  /** The agent works on it. */
  isRunning = false;
  /** Ends its turn, if nobody waits for it any more. */
  unwanted: (() => void) | undefined;
  readonly updateId: string;
  readonly conversationId: string;
  readonly digest: string;

  constructor(updateId: string, conversationId: string, digest: string) {
    this.updateId = updateId;
    this.conversationId = conversationId;
    this.digest = digest;
  }

  /** It is kept for who asks again. */
  get isKept(): boolean {
    return this.updateId.startsWith(keptPrefix);
  }

  text(wanted: Field): string {
    return [...this.parts.values(), ...this.growing.values()]
      .filter(({ field, text }) => field === wanted && text !== '')
      .map(({ text }) => text)
      .join('\n\n');
  }

  tell(): void {
    for (const read of [...this.readers]) read();
  }
}

/** The answers that are being made here, and those that are kept in the store. */
export class Answers {
  readonly #open = new Map<string, Answer>();
  readonly #store: ExtensionApi['store'];
  readonly #ttlMs: number;

  /** @param ttlMs how long an answer is kept. */
  constructor(store: ExtensionApi['store'], ttlMs: number) {
    this.#store = store;
    this.#ttlMs = ttlMs;
  }

  /** Those that are open here, the oldest first. */
  all(): readonly Answer[] {
    return [...this.#open.values()];
  }

  get(updateId: string | undefined): Answer | undefined {
    return updateId === undefined ? undefined : this.#open.get(updateId);
  }

  /**
   * Opens the answer of a request, or finds the one of the same key.
   *
   * @returns `isNew`: its update is to be handed over; nothing if the key belongs to another request.
   */
  async open(
    asked: Answer,
  ): Promise<{ readonly answer: Answer; readonly isNew: boolean } | undefined> {
    const there = this.#open.get(asked.updateId);
    if (there !== undefined)
      return there.digest === asked.digest ? { answer: there, isNew: false } : undefined;
    this.#open.set(asked.updateId, asked); // before anything waits: a second request finds it
    if (!asked.isKept) return { answer: asked, isNew: true };
    try {
      const kept = await this.#store.get<KeptAnswer>(asked.updateId);
      if (kept === undefined) await this.keep(asked);
      else if (kept.digest === asked.digest) fill(asked, kept);
      else {
        this.close(asked, { status: 'refused' });
        return undefined;
      }
    } catch (error) {
      this.close(asked, { status: 'refused' });
      throw error;
    }
    if (asked.end !== undefined) this.close(asked, asked.end);
    return { answer: asked, isNew: asked.end === undefined };
  }

  /** Finds the answer that a send belongs to: by its address, or the newest of its conversation. */
  async at(address: string): Promise<Answer | undefined> {
    const cut = address.lastIndexOf('#');
    if (cut < 0) return this.all().findLast((one) => one.conversationId === address);
    const updateId = address.slice(cut + 1);
    const there = this.#open.get(updateId);
    if (there !== undefined || !updateId.startsWith(keptPrefix)) return there;
    const kept = await this.#store.get<KeptAnswer>(updateId); // of a host before this one
    return kept && fill(new Answer(updateId, address.slice(0, cut), kept.digest), kept);
  }

  /** Keeps an answer as it is now. */
  async keep(
    { updateId, digest, parts, note }: Answer,
    end: UpdateEnd | null = null,
  ): Promise<void> {
    const kept = { digest, parts: [...parts], note, end };
    await this.#store.set(updateId, kept, { ttlMs: this.#ttlMs });
  }

  /** An update has ended: its answer is whole, and is kept unless another host ends it. */
  async end(end: UpdateEnd): Promise<void> {
    const answer = await this.at(`#${end.updateId ?? ''}`);
    if (answer === undefined) return;
    try {
      const isLast = end.status !== 'known' && end.status !== 'aborted';
      if (answer.isKept && isLast) await this.keep(answer, end);
    } finally {
      this.close(answer, end);
    }
  }

  /** It has ended: nothing is added to it. */
  close(answer: Answer, end: UpdateEnd): void {
    answer.end = end;
    this.#open.delete(answer.updateId);
    answer.tell();
  }
}

function fill(answer: Answer, { parts, note, end }: KeptAnswer): Answer {
  for (const [key, part] of parts) answer.parts.set(key, part);
  answer.note = note;
  answer.end = end ?? undefined;
  return answer;
}
