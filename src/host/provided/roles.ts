import type { Principal, ProvenSender } from 'sluice-kernel';
import { roleEntry } from '../config/setting.js';

/**
 * By role, the senders that have it: `channel:senderId`, or `channel/accountId:senderId` for one account (judgement §1.6). The role
 * `owner` makes its senders owners of the host.
 */
export type RoleTable = Readonly<Record<string, readonly string[]>>;

/** Finds the roles of a sender. */
export type RolesOf = (sender: ProvenSender) => readonly string[];

/** Makes a lookup of a table; each look costs the same, however long the table is. */
export function rolesOf(given: RoleTable | RolesOf = {}): RolesOf {
  if (typeof given === 'function') return given;
  const bySender = new Map<string, string[]>();
  for (const [role, entries] of Object.entries(given))
    for (const entry of entries) {
      const [, channel, accountId, senderId] = roleEntry.exec(entry) ?? [];
      if (channel === undefined || senderId === undefined) continue; // no account can meet it: doctor says so
      const key = keyOf(channel, accountId, senderId);
      bySender.set(key, [...(bySender.get(key) ?? []), role]);
    }
  const none: readonly string[] = [];
  return ({ channel, accountId, senderId }) => [
    ...(bySender.get(keyOf(channel, undefined, senderId)) ?? none),
    ...(bySender.get(keyOf(channel, accountId, senderId)) ?? none),
  ];
}

function keyOf(channel: string, accountId: string | undefined, senderId: string): string {
  return JSON.stringify([channel, accountId ?? null, senderId]);
}

/** Gives a proven sender the roles that he has today. @param isLocal he is at this machine, and so owns the host. */
export function asPrincipal(
  { roles: find }: { readonly roles: RolesOf },
  sender: ProvenSender,
  isLocal = false,
): Principal {
  const roles = [...new Set(find(sender))].sort();
  return { ...sender, isOwner: isLocal || roles.includes('owner'), roles };
}
