import { digestOf } from '@sluice/journal/internal';
import type { KeptValue, KeyValues } from '@sluice/sdk/extension';
import { changeValue } from '@sluice/sdk/extension/internal';
import { type AnsweredPlace, type QuestionRow, threadOf } from './question-row.js';

const namespace = '/questions-in';
const quota = { maxKeys: 1_000_000, maxBytes: 1024 * 1024 * 1024 };

/** The name of the row of a question. */
export interface QuestionName extends Pick<QuestionRow, 'extensionId' | 'id'> {
  /** Its thread; the empty text if it has none, and absent if an older version has written it. */
  readonly thread?: string;
}

type Names = readonly QuestionName[];

/** The key of the entry of a conversation. */
export function entryOf({ channel, accountId = '', conversationId }: AnsweredPlace): string {
  return digestOf(JSON.stringify([channel, accountId, conversationId]));
}

/**
 * The questions of each conversation: a question is in it as long as its row is there. So a host that handles a message finds with one
 * look the questions that any host has asked.
 */
export class QuestionIndex {
  readonly #keyValues: KeyValues;

  constructor(keyValues: KeyValues) {
    this.#keyValues = keyValues;
  }

  /** The questions of a conversation, in the order in which they were asked. @throws as the journal does. */
  async read(entry: string): Promise<Names> {
    return namesOf(await this.#keyValues.get(namespace, entry));
  }

  /** The questions of all conversations. @throws as the journal does. */
  async all(): Promise<readonly (QuestionName & { readonly entry: string })[]> {
    const entries = await this.#keyValues.list(namespace, { prefix: '', limit: quota.maxKeys });
    return entries.flatMap((one) => namesOf(one).map((name) => ({ ...name, entry: one.key })));
  }

  /**
   * Adds a question, unless another one is found in its conversation. Of hosts that add at once, each looks again after the first.
   * Writes also if it is there: a host that takes it out at the same time looks again, too.
   *
   * @returns the other one; `full` if there is no room for it.
   * @throws as the journal does.
   */
  async add<Other>(
    entry: string,
    { extensionId, id, place }: Pick<QuestionRow, 'extensionId' | 'id' | 'place'>,
    look: () => Promise<Other | undefined>,
  ): Promise<Other | 'full' | undefined> {
    let other: Other | undefined;
    const status = await this.#change(entry, async (names) => {
      other = await look();
      const others = names.filter((one) => one.id !== id);
      const thread = threadOf(place);
      return other === undefined ? [...others, { extensionId, id, thread }] : undefined;
    });
    return other ?? (status === 'full' ? status : undefined);
  }

  /** Takes a question out, unless its row is there again. @throws as the journal does. */
  async remove(
    entry: string,
    { id }: QuestionName,
    isThere: () => Promise<boolean>,
  ): Promise<void> {
    await this.#change(entry, async (names) => {
      const others = names.filter((one) => one.id !== id);
      return others.length === names.length || (await isThere()) ? undefined : others;
    });
  }

  /** @param next makes the new names; nothing if they stay as they are. */
  async #change(entry: string, next: (names: Names) => Promise<Names | undefined>) {
    const at = { values: this.#keyValues, namespace, key: entry, quota };
    const { result } = await changeValue(at, async (before) => {
      const names = await next(namesOf(before));
      return names && (names.length === 0 ? null : { body: JSON.stringify(names) });
    });
    return result?.status;
  }
}

function namesOf(persisted: KeptValue | undefined): Names {
  return persisted === undefined ? [] : JSON.parse(persisted.body); // as it was written
}
