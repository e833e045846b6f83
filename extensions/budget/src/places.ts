import { createHash } from 'node:crypto';
import type { Envelope, Principal } from 'sluice';
import type { Cap, Settings } from './config.js';

/** The name of a cap, as in the settings. */
export type CapName = 'perPrincipal' | 'perSession' | 'perAgent' | 'total';

/** An account that a message or a run counts in, for one day. */
export interface Place {
  readonly capName: CapName;
  /** The key of the account in the store. */
  readonly key: string;
  /** Its name for people. */
  readonly name: string;
  /** Absent if the settings say that there is none. */
  readonly cap: Cap | undefined;
}

/** The one who brings a message, and the agent and session that answer it, as far as they are known. */
export interface Whose {
  readonly principal: Principal | undefined;
  /** Channel, account and conversation. */
  readonly conversation: readonly string[] | undefined;
  readonly agentId: string | undefined;
  readonly sessionKey: string | undefined;
}

/** Finds the conversation of an event. */
export function conversationOf({
  accountRef,
  conversationRef,
}: Pick<Envelope, 'accountRef' | 'conversationRef'>): Whose['conversation'] {
  if (conversationRef === null) return undefined;
  return [conversationRef.channel, accountRef?.id ?? 'default', conversationRef.id];
}

/** Finds the accounts of a day: one for each kind of cap that the settings have. */
export function placesOf(whose: Whose, settings: Settings, day: string): readonly Place[] {
  const { perPrincipal, perSession, perAgent, total, byRole, byAgent } = settings;
  const { agentId, sessionKey } = whose;
  const places: Place[] = [];
  const add = (capName: CapName, id: readonly string[], cap: Cap | undefined): void => {
    const name = shown(id.join(capName === 'perPrincipal' ? ':' : ' '));
    places.push({ capName, key: `${day}/${capName}/${digest(JSON.stringify(id))}`, name, cap });
  };
  const sender = senderOf(whose);
  if (sender !== undefined && isCapped(perPrincipal, byRole))
    add('perPrincipal', sender, capOfRoles(whose.principal, settings));
  if (sessionKey !== undefined && perSession !== undefined)
    add('perSession', [sessionKey], perSession);
  if (agentId !== undefined && isCapped(perAgent, byAgent)) {
    const own = Object.hasOwn(byAgent, agentId) ? byAgent[agentId] : perAgent;
    add('perAgent', [agentId], own === false ? undefined : own);
  }
  if (total !== undefined) add('total', ['all'], total);
  return places;
}

/** Shortens an id to a part of a key. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function senderOf({ principal, conversation }: Whose): readonly string[] | undefined {
  if (principal !== undefined) return [principal.channel, principal.senderId];
  return conversation && ['unproven', ...conversation];
}

function capOfRoles(principal: Principal | undefined, { perPrincipal, byRole }: Settings) {
  if (principal === undefined) return perPrincipal;
  const { roles, isOwner } = principal;
  const role = Object.keys(byRole).find(
    (name) => roles.includes(name) || (isOwner && name === 'owner'),
  );
  const own = role === undefined ? perPrincipal : byRole[role];
  return own === false ? undefined : own;
}

function isCapped(cap: Cap | undefined, by: Readonly<Record<string, unknown>>): boolean {
  return cap !== undefined || Object.keys(by).length > 0;
}

/** Ids come from providers: people are shown one short line. */
function shown(name: string): string {
  return name.replace(/\p{C}/gu, '').slice(0, 100);
}
