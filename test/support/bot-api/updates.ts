/** An update as people make it; ids count up from 100. */
export interface Said {
  readonly updateId: number;
  readonly text?: string;
  readonly chat?: object;
  readonly from?: object;
  readonly more?: object;
}

export const ada = { id: 42, is_bot: false, first_name: 'Ada', username: 'ada_l' };
export const privateChat = { id: 42, type: 'private', first_name: 'Ada' };
export const forum = { id: -1005, type: 'supergroup', title: 'Atlas', is_forum: true };
export const group = { id: -77, type: 'group', title: 'Friends' };

/** When everything in tests is said, in seconds since 1970. */
export const saidAtS = 1_773_532_800;

/** Somebody writes. A command and a mention are marked, as Telegram marks them. */
export function messageUpdate({ updateId, text, chat, from, more }: Said): object {
  const entities = text === undefined ? [] : entitiesOf(text);
  return {
    update_id: updateId,
    message: {
      message_id: updateId + 5_000,
      date: saidAtS,
      chat: chat ?? privateChat,
      from: from ?? ada,
      ...(text !== undefined && { text }),
      ...(entities.length > 0 && { entities }),
      ...more,
    },
  };
}

/** Somebody presses a button. */
export function pressUpdate({
  updateId,
  data,
  more,
}: {
  readonly updateId: number;
  readonly data: string;
  readonly more?: object;
}): object {
  return {
    update_id: updateId,
    callback_query: {
      id: `press-${updateId}`,
      from: ada,
      chat_instance: '1',
      message: { message_id: 900, date: saidAtS, chat: privateChat, from: { id: 7, is_bot: true } },
      data,
      ...more,
    },
  };
}

function entitiesOf(text: string): object[] {
  return [...text.matchAll(/(?<![\w])(\/[a-z]\w*(?:@\w+)?|@\w{4,})/gi)].map((match) => ({
    type: match[0].startsWith('/') ? 'bot_command' : 'mention',
    offset: match.index,
    length: match[0].length,
  }));
}
