import type { Update } from 'grammy/types';
import type { ExtensionApi, Logger } from 'sluice';
import type { TelegramConfig } from './config.js';

/** The store of moves, so that a host that starts again knows them. */
export type MoveStore = Pick<ExtensionApi['store'], 'set' | 'list'>;

/** Follows groups to their new ids. */
export type Moves = ReturnType<typeof followMoves>;

/**
 * Follows the groups that become others: Telegram gives a group another id when it grows.
 *
 * @param groups the settings of each group by its id; those of a group that has moved are added by its new one.
 */
export function followMoves(groups: TelegramConfig['groups'], log: Logger, store?: MoveStore) {
  const known = new Map<string, string>();
  const follow = (fromId: string, toId: string): void => {
    known.set(fromId, toId);
    const rules = groups[fromId];
    if (rules !== undefined) groups[toId] ??= rules;
  };

  /** A group has another id from now on. It is told once. */
  const learn = async (from: number | string, to: number): Promise<void> => {
    const [fromId, toId] = [String(from), String(to)];
    if (known.get(fromId) === toId) return;
    follow(fromId, toId);
    log.warn(`the group ${fromId} is ${toId} now: name ${toId} in the settings`);
    await store
      ?.set(`moved/${fromId}`, toId)
      .catch((error: unknown) => log.error('the new id of a group was not kept', { error }));
  };

  return {
    learn,
    /** Reads the moves that were kept. */
    load: async (): Promise<void> => {
      for (const { key, value } of (await store?.list('moved/')) ?? [])
        follow(key.slice('moved/'.length), String(value));
    },
    /** Looks at an update: one message tells of the move in the group as it was, another in the new one. @returns nothing of any other. */
    note: ({ message }: Update): Promise<void> | undefined => {
      const id = message?.chat?.id;
      const { migrate_to_chat_id: to = id, migrate_from_chat_id: from = id } = message ?? {};
      const isMove = from !== undefined && to !== undefined && from !== to;
      return isMove ? learn(from, to) : undefined;
    },
  };
}
