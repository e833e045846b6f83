import type { Settings } from './settings.js';

/** The part of a message that says where it comes from. */
export interface Origin {
  readonly channel: string;
  readonly accountId?: string;
  readonly from: string;
  readonly conversationId?: string;
  readonly threadId?: string | number;
  readonly isGroup?: boolean;
  readonly guildId?: string;
  readonly sender?: { readonly id?: string };
}

/** The conversation without the name of its channel. */
function peerOf({ channel, conversationId, from }: Origin): string {
  const peer = conversationId ?? from;
  return peer.startsWith(`${channel}:`) ? peer.slice(channel.length + 1) : peer;
}

/** Returns whether a sender may write where he writes. A channel without rules is not judged. */
export function isLetIn(access: Settings['access'], origin: Origin): boolean {
  const { channel, accountId = 'default', threadId, isGroup, sender } = origin;
  const accounts = access[channel];
  if (accounts === undefined) return true;
  const account = accounts[accountId];
  if (account === undefined) return false;
  const group = account.groups[peerOf(origin)] ?? account.groups['*'];
  const inGroup = group?.topics?.[String(threadId)] ?? group?.people ?? [];
  const people = isGroup === true ? inGroup : account.dm;
  return people.some((one) => one === '*' || one === sender?.id);
}

const isKind = (kind: string, isGroup: boolean | undefined): boolean =>
  isGroup === (kind === 'group' || kind === 'channel');

/** Ranks a binding for a message: 0 if it is for others, and the more the closer it is. */
function rankOf({ match }: Settings['bindings'][number], origin: Origin): number {
  const { accountId = 'default', peer, guildId, teamId } = match;
  const place = peerOf(origin);
  const topic = `${place}:topic:${origin.threadId}`;
  const id = peer?.id.replace(/^(telegram|tg|slack|user|channel|group):/i, '');
  const community = guildId ?? teamId;
  if (match.channel !== origin.channel) return 0;
  if (accountId !== '*' && accountId !== (origin.accountId ?? 'default').toLowerCase()) return 0;
  if (community !== undefined && community !== origin.guildId) return 0;
  if (peer === undefined) return community !== undefined ? 3 : accountId === '*' ? 1 : 2;
  if (!isKind(peer.kind, origin.isGroup === true)) return 0;
  return id === topic ? 5 : id === place ? 4 : 0;
}

/** Finds the agent of a message: by its topic, conversation, community, account or channel, or the default. */
export function agentOf(
  settings: Pick<Settings, 'bindings' | 'defaultAgent'>,
  origin: Origin,
): string {
  let [agentId, best] = [settings.defaultAgent, 0];
  for (const binding of settings.bindings) {
    const rank = rankOf(binding, origin);
    if (rank > best) [agentId, best] = [binding.agentId, rank];
  }
  return agentId;
}

/** The session of a message, under the key that it had in OpenClaw. */
export function sessionKeyOf(
  { dmScope, mainKey, identityLinks }: Pick<Settings, 'dmScope' | 'mainKey' | 'identityLinks'>,
  agentId: string,
  origin: Origin,
): string {
  const { channel, accountId = 'default', threadId, isGroup, sender } = origin;
  const key = (...parts: readonly string[]) => `agent:${agentId}:${parts.join(':')}`.toLowerCase();
  const [place, thread] = channel === 'slack' ? ['channel', 'thread'] : ['group', 'topic'];
  if (isGroup === true)
    return key(
      channel,
      place,
      peerOf(origin),
      ...(threadId === undefined ? [] : [thread, String(threadId)]),
    );
  if (dmScope === 'main') return key(mainKey);
  const id = sender?.id ?? peerOf(origin);
  const isLinked = (one: string): boolean => one.toLowerCase() === `${channel}:${id}`.toLowerCase();
  const peer = Object.keys(identityLinks).find((name) => identityLinks[name]?.some(isLinked)) ?? id;
  const scope =
    dmScope === 'per-peer' ? [] : dmScope === 'per-channel-peer' ? [channel] : [channel, accountId];
  return key(...scope, 'direct', peer);
}

/** Returns whether the send policy lets an answer go to a conversation. One of an unknown kind is of each kind. */
export function maySend(
  policy: Settings['sendPolicy'],
  where: { readonly channel?: string; readonly isGroup?: boolean; readonly sessionKey?: string },
): boolean {
  const raw = where.sessionKey?.toLowerCase() ?? '';
  const keys = [raw, raw.replace(/^agent:[^:]*:/, '')];
  const actions = policy.rules
    .filter(({ match: { channel, chatType, keyPrefix, rawKeyPrefix } }) =>
      [
        channel === undefined || channel.toLowerCase() === where.channel,
        chatType === undefined || where.isGroup === undefined || isKind(chatType, where.isGroup),
        rawKeyPrefix === undefined || raw.startsWith(rawKeyPrefix.toLowerCase()),
        keyPrefix === undefined || keys.some((key) => key.startsWith(keyPrefix.toLowerCase())),
      ].every(Boolean),
    )
    .map((rule) => rule.action);
  return actions.length === 0 ? policy.default === 'allow' : !actions.includes('deny');
}
