import type { InboundMessage } from '../channel/index.js';

/** The people who may write in private messages, or in groups. */
type AccessPolicy = 'open' | 'allowlist' | 'disabled';

/** The rules of who may write to a bot, and where. */
export interface AccessRules {
  /** By default `allowlist` if somebody or a group is named, else `open`. */
  readonly dmPolicy?: AccessPolicy;
  readonly groupPolicy?: AccessPolicy;
  /** People by id, or by handle in lower case. They may give commands, too; if the list is empty, everybody may. */
  readonly allowFrom: readonly string[];
  /** Groups by id. */
  readonly groups: Readonly<
    Record<string, { readonly requireMention?: boolean; readonly allowFrom?: readonly string[] }>
  >;
  /** The bot must be named in groups. */
  readonly requireMention: boolean;
}

/** A message is let in, or it is not: then it never becomes `ingress.normalized`. */
export type Admission =
  | { readonly isAdmitted: true /** Its sender may give commands. */; readonly mayCommand: boolean }
  | { readonly isAdmitted: false; readonly reason: string };

/** Somebody who writes somewhere. */
export interface Visit {
  /** The group; absent in private. */
  readonly groupId?: string;
  readonly sender: NonNullable<InboundMessage['sender']>;
  /** It names the bot, or was made for it alone: a command, a press of its button. */
  readonly isAddressed: boolean;
}

/**
 * The policy that holds if the settings name none: if they name people, only these may write.
 *
 * @example
 * if (policiesOf(config).dmPolicy === 'open') log.warn('anyone may write to the bot');
 */
export function policiesOf(
  rules: AccessRules,
): Required<Pick<AccessRules, 'dmPolicy' | 'groupPolicy'>> {
  const hasNames = rules.allowFrom.length > 0 || Object.keys(rules.groups).length > 0;
  const usual = hasNames ? 'allowlist' : 'open';
  return { dmPolicy: rules.dmPolicy ?? usual, groupPolicy: rules.groupPolicy ?? usual };
}

/**
 * Judges a visit by the settings alone.
 *
 * @example
 * const admission = admit({ sender, isAddressed: true }, config);
 * if (!admission.isAdmitted) return { kind: 'ignored', reason: admission.reason };
 */
export function admit({ groupId, sender, isAddressed }: Visit, rules: AccessRules): Admission {
  const { dmPolicy, groupPolicy } = policiesOf(rules);
  const isKnown = isListed(sender, rules.allowFrom);
  const mayCommand = isKnown || rules.allowFrom.length === 0;
  if (groupId === undefined) {
    if (dmPolicy === 'disabled') return refused('private messages are off');
    if (dmPolicy === 'allowlist' && !isKnown) return refused('its sender is not allowed');
    return { isAdmitted: true, mayCommand };
  }
  if (groupPolicy === 'disabled') return refused('groups are off');
  const group = rules.groups[groupId];
  if (groupPolicy === 'allowlist' && group === undefined)
    return refused('its group is not allowed');
  if (group?.allowFrom !== undefined && !isKnown && !isListed(sender, group.allowFrom))
    return refused('its sender is not allowed in this group');
  if ((group?.requireMention ?? rules.requireMention) && !isAddressed)
    return refused('it does not name the bot');
  return { isAdmitted: true, mayCommand };
}

function refused(reason: string): Admission {
  return { isAdmitted: false, reason };
}

function isListed({ id, username }: Visit['sender'], people: readonly string[]): boolean {
  return people.some((one) => one === id || one === username?.toLowerCase());
}
