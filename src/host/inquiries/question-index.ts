import { digestOf } from '@sluice/journal/internal';
import type { KeyValues } from '@sluice/sdk/extension';
import { hasFields, WorkItems } from '@sluice/sdk/extension/internal';
import { type AnsweredPlace, type QuestionRow, threadOf } from './question-row.js';

const namespace = '/questions-in';
const quota = { maxKeys: 1_000_000, maxBytes: 1024 * 1024 * 1024 };

/** The name of the row of a question. */
export interface QuestionName extends Pick<QuestionRow, 'extensionId' | 'id'> {
  /** Its thread; the empty text if it has none, and absent if an older version has written it. */
  readonly thread?: string;
}

type Names = readonly QuestionName[];

const isName = hasFields<QuestionName>({ extensionId: 'string', id: 'string' });
const areNames = (value: unknown): value is Names => Array.isArray(value) && value.every(isName);

/** The key of the entry of a conversation. */
export function entryOf({ channel, accountId = '', conversationId }: AnsweredPlace): string {
  return digestOf(JSON.stringify([channel, accountId, conversationId]));
}

/**
 * The questions of each conversation: a question is in it as long as its row is there. So a host that handles a message finds with one
 * look the questions that any host has asked.
 */
export class QuestionIndex {
  readonly #items: WorkItems<Names>;

  constructor(keyValues: KeyValues) {
    this.#items = new WorkItems(keyValues, { isItem: areNames, quota });
  }

  /** The questions of a conversation, in the order in which they were asked. @throws as the journal does. */
  async read(entry: string): Promise<Names> {
    return (await this.#items.find(namespace, entry)) ?? [];
  }

  /** The questions of all conversations. @throws as the journal does. */
  async all(): Promise<readonly (QuestionName & { readonly entry: string })[]> {
    const entries = await this.#items.list(namespace);
    return entries.flatMap(({ key: entry, item }) => item.map((name) => ({ ...name, entry })));
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
  async #change(key: string, next: (names: Names) => Promise<Names | undefined>) {
    const { status } = await this.#items.change({ namespace, key }, async (was = []) => {
      const names = await next(was);
      return names?.length === 0 ? null : names;
    });
    return status;
  }
}
