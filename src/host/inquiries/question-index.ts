import { digestOf } from '@sluice/journal/internal';
import type { KeyValues } from '@sluice/sdk/extension';
import type { QuestionRow } from './open-questions.js';

const namespace = '/questions-in';
const quota = { maxKeys: 1_000_000, maxBytes: 1024 * 1024 * 1024 };

/** The name of the row of a question. */
export type QuestionName = Pick<QuestionRow, 'extensionId' | 'id'>;

/**
 * The questions of each conversation, in a journal that hosts share: a question is in it as long as its row is there. So a host
 * that handles a message finds with one look the questions that others have asked.
 */
export class QuestionIndex {
  readonly #keyValues: KeyValues;

  constructor(keyValues: KeyValues) {
    this.#keyValues = keyValues;
  }

  /** @returns the names, and the version of what was read. @throws as the journal does. */
  async read(conversation: string) {
    const persisted = await this.#keyValues.get(namespace, digestOf(conversation));
    const names: readonly QuestionName[] =
      persisted === undefined ? [] : JSON.parse(persisted.body); // as it was written
    return { names, version: persisted?.version ?? null };
  }

  /**
   * Adds a question, unless another one is found in its conversation. Of hosts that add at once, each looks again after the first.
   * Writes also if it is there: a host that takes it out at the same time looks again, too.
   *
   * @returns the other one; `full` if there is no room for it.
   * @throws as the journal does.
   */
  async add<Other>(
    conversation: string,
    { extensionId, id }: QuestionName,
    look: () => Promise<Other | undefined>,
  ): Promise<Other | 'full' | undefined> {
    for (;;) {
      const { names, version } = await this.read(conversation);
      const other = await look();
      if (other !== undefined) return other;
      const others = names.filter((one) => one.id !== id);
      const status = await this.#write(conversation, [...others, { extensionId, id }], version);
      if (status !== 'conflict') return status === 'full' ? status : undefined;
    }
  }

  async #write(conversation: string, names: readonly QuestionName[], version: string | null) {
    const value = names.length === 0 ? undefined : { body: JSON.stringify(names) };
    const given = { quota, expected: version };
    const { status } = await this.#keyValues.write(namespace, digestOf(conversation), value, given);
    return status;
  }

  /** Takes a question out, unless it is there again. @throws as the journal does. */
  async remove(
    conversation: string,
    { id }: QuestionName,
    isThere: () => Promise<boolean>,
  ): Promise<void> {
    for (;;) {
      const { names, version } = await this.read(conversation);
      const others = names.filter((one) => one.id !== id);
      if (others.length === names.length || (await isThere())) return;
      if ((await this.#write(conversation, others, version)) !== 'conflict') return;
    }
  }
}
