/** A conversation, as far as it is known. */
export interface Conversation {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly id: string;
  readonly threadId?: string | undefined;
  /** Its name, where it has one. */
  readonly name?: string | undefined;
  readonly isGroup?: boolean;
}

/**
 * Says a conversation in words.
 *
 * @example
 * conversationWords({ channel: 'telegram', id: 'telegram:-7', name: 'Ops', isGroup: true }); // 'telegram, group Ops'
 */
export function conversationWords({
  channel,
  accountId = 'default',
  id,
  threadId = '',
  name,
  isGroup = false,
}: Conversation): string {
  const account = accountId === 'default' || accountId === '' ? '' : ` (${accountId})`;
  const own = id.startsWith(`${channel}:`) ? id.slice(channel.length + 1) : id;
  const thread = threadId === '' ? '' : `, thread ${threadId}`;
  return `${channel}${account}, ${isGroup ? 'group' : 'chat'} ${name ?? own}${thread}`;
}

/** Says the lane of an update in words. A lane that no host of this kind has written is left as it is. */
export function laneWords(lane: string): string {
  let parts: unknown;
  try {
    parts = JSON.parse(lane);
  } catch {
    return lane;
  }
  if (!Array.isArray(parts)) return lane;
  const [channel, accountId, id, threadId] = parts.map(String);
  if (channel === undefined || id === undefined) return lane;
  return conversationWords({ channel, accountId, id, threadId });
}
