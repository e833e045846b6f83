import { createHash } from 'node:crypto';
import type { Call } from 'sluice';
import type { Limit } from './config.js';

/** The name of a limit, as in the settings. */
type LimitName = 'perPrincipal' | 'perConversation';

/** A limit that judges one message, with the key of its bucket in the store. */
export interface AppliedLimit {
  readonly name: LimitName;
  readonly limit: Limit;
  readonly key: string;
}

/** Finds the limits of a message. A sender whom the channel has not proven counts with the others of his conversation. */
export function limitsOf(
  { payload: { message }, principal }: Call<'routing.resolving'>,
  limits: { readonly [Name in LimitName]?: Limit | undefined },
): readonly AppliedLimit[] {
  const { channel, accountId = 'default', conversationId = message.from } = message;
  const conversation = [channel, accountId, conversationId];
  const sender = principal === undefined ? conversation : [principal.channel, principal.senderId];
  const applied = (name: LimitName, place: readonly string[]): readonly AppliedLimit[] => {
    const limit = limits[name];
    return limit === undefined ? [] : [{ name, limit, key: keyOf(name, limit, place) }];
  };
  return [...applied('perPrincipal', sender), ...applied('perConversation', conversation)];
}

/** A key holds the limit, so that one that was changed begins with full buckets. Ids may be longer than a key. */
function keyOf(name: LimitName, { count, windowMs }: Limit, place: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(place)).digest('base64url');
  return `${name}/${count}/${windowMs}/${digest}`;
}
