import { oneLine } from '../value/one-line.js';
import { isPlain } from '../value/plain.js';

/**
 * On whose behalf something happens: a sender that a channel has proven (judgement §1.1). It travels from one dispatch to the
 * next beside the event. No handler, payload, tool or model can set it.
 */
export interface Principal {
  readonly channel: string;
  /** The account of the host that the sender wrote to. */
  readonly accountId: string;
  readonly conversationId?: string;
  /** The sender, by the channel's own id. */
  readonly senderId: string;
  /** For people: the channel says it, and does not prove it. */
  readonly senderName?: string;
  /** The operator has said that the sender owns this host. */
  readonly isOwner: boolean;
  /** The roles that the operator has given to the sender, sorted. */
  readonly roles: readonly string[];
}

/** A sender that a channel has proven, before the roles of the operator are looked up (judgement §1.5). */
export type ProvenSender = Omit<Principal, 'isOwner' | 'roles'>;

const needed = ['channel', 'accountId', 'senderId'] as const;
const optional = ['conversationId', 'senderName'] as const;

/**
 * Takes a principal that a dispatch was given: checks and freezes it.
 *
 * @returns the first problem, as the path of a field and a text; nothing if it is a principal.
 */
export function takePrincipal(
  value: Principal,
): { readonly field: string; readonly problem: string } | undefined {
  if (!isPlain(value)) return { field: 'principal', problem: 'it must be an object, or null' };
  const fields: { readonly [Key in keyof Principal]: unknown } = value;
  const refuse = (field: string, problem: string) => ({ field: `principal.${field}`, problem });
  for (const field of needed)
    if (typeof fields[field] !== 'string' || fields[field] === '')
      return refuse(field, 'it must be a text that is not empty');
  for (const field of optional)
    if (fields[field] !== undefined && typeof fields[field] !== 'string')
      return refuse(field, 'it must be a text, or absent');
  if (typeof fields.isOwner !== 'boolean') return refuse('isOwner', 'it must be true or false');
  const { roles } = fields;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string'))
    return refuse('roles', 'it must be a list of texts');
  Object.freeze(roles);
  Object.freeze(value);
  return undefined;
}

/** Names a principal in one line, for people: `pigeon/main:12345 "Ann", owner, roles admin`. */
export function principalText(principal: Principal): string {
  const { channel, accountId, senderId, senderName, isOwner, roles } = principal;
  const parts = [
    `${channel}/${accountId}:${senderId}${senderName === undefined ? '' : ` ${JSON.stringify(senderName)}`}`,
    ...(isOwner ? ['owner'] : []),
    ...(roles.length === 0 ? [] : [`roles ${roles.join(', ')}`]),
  ];
  return oneLine(parts.join(', '));
}
