import type { Principal } from '../../kernel/index.js';
import type { LegacyRequester } from './shapes.js';

/** The account of a channel that names none. */
const defaultAccountId = 'default';

/** The requester of a legacy context, of a principal. Its role ids are the roles that the operator has given. */
export function requesterOf(principal: Principal | undefined): LegacyRequester | undefined {
  if (principal === undefined) return undefined;
  const { channel, accountId, senderId, isOwner, roles } = principal;
  return { channel, accountId, senderId, senderIsOwner: isOwner, roleIds: [...roles] };
}

/**
 * The principal of a requester. The host that calls the legacy runner has proven it. One without a channel or a sender proves
 * nobody.
 */
export function principalOf(requester: LegacyRequester): Principal | undefined {
  const { channel, accountId, senderId, senderIsOwner, roleIds }: Unchecked = Object(requester);
  if (!isName(channel) || !isName(senderId)) return undefined;
  const roles = Array.isArray(roleIds) ? roleIds.filter(isName) : [];
  return {
    ...{ channel, accountId: isName(accountId) ? accountId : defaultAccountId, senderId },
    ...{ isOwner: senderIsOwner === true, roles: [...new Set(roles)].sort() },
  };
}

type Unchecked = { readonly [Key in keyof LegacyRequester]?: unknown };

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
