import type { Update } from 'grammy/types';
import type { ExtensionApi, Logger } from 'sluice';
import type { TelegramConfig } from './config.js';

/** The store of moves, so that a host that starts again knows them. */
export type MoveStore = Pick<ExtensionApi['store'], 'set' | 'list'>;

/** The groups that the settings name, and those that they have become: Telegram gives a group another id when it grows. */
export class Moves {
  /** The settings of each group, by its old id and by its new one. */
  readonly groups: TelegramConfig['groups'];
  readonly #log: Logger;
  readonly #store: MoveStore | undefined;
  readonly #known = new Map<string, string>();

  constructor(groups: TelegramConfig['groups'], log: Logger, store?: MoveStore) {
    this.groups = { ...groups };
    this.#log = log;
    this.#store = store;
  }

  /** Reads the moves that were kept. */
  async load(): Promise<void> {
    for (const { key, value } of (await this.#store?.list('moved/')) ?? [])
      this.#follow(key.slice('moved/'.length), String(value));
  }

  /** Looks at an update: one message tells of the move in the group as it was, another in the new one. */
  async note({ message }: Update): Promise<void> {
    const {
      chat,
      migrate_to_chat_id: to = chat?.id,
      migrate_from_chat_id: from = chat?.id,
    } = message ?? {};
    if (from !== undefined && to !== undefined && from !== to) await this.learn(from, to);
  }

  /** A group has another id from now on. It is told once. */
  async learn(fromId: number | string, toId: number): Promise<void> {
    if (this.#known.get(String(fromId)) === String(toId)) return;
    this.#follow(String(fromId), String(toId));
    this.#log.warn(`the group ${fromId} is ${toId} now: name ${toId} in the settings`);
    await this.#store
      ?.set(`moved/${fromId}`, String(toId))
      .catch((error: unknown) => this.#log.error('the new id of a group was not kept', { error }));
  }

  #follow(fromId: string, toId: string): void {
    this.#known.set(fromId, toId);
    const rules = this.groups[fromId];
    if (rules !== undefined) this.groups[toId] ??= rules;
  }
}
