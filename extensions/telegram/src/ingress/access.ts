import type { AccessConfig } from '../config.js';
import type { Place } from './place.js';
import type { Sender } from './sender.js';

/** Tells whether a message is let in. One that is not never becomes `ingress.normalized`. */
export type Admission =
  | { readonly isAdmitted: true /** Its sender may give commands. */; readonly mayCommand: boolean }
  | { readonly isAdmitted: false; readonly reason: string };

/** Somebody who writes somewhere. */
export interface Visit {
  readonly place: Pick<Place, 'isGroup' | 'conversationId'>;
  readonly sender: Sender;
  /** It names the bot, or was made for it alone: a command, a press of its button. */
  readonly isAddressed: boolean;
}

/** The policy that holds if the settings name none: if they name people, only these may write. */
export function policiesOf(
  config: AccessConfig,
): Required<Pick<AccessConfig, 'dmPolicy' | 'groupPolicy'>> {
  const hasPeople = config.allowFrom.length > 0;
  const hasGroups = Object.keys(config.groups).length > 0;
  return {
    dmPolicy: config.dmPolicy ?? (hasPeople || hasGroups ? 'allowlist' : 'open'),
    groupPolicy: config.groupPolicy ?? (hasPeople || hasGroups ? 'allowlist' : 'open'),
  };
}

/** Judges a visit by the settings alone. */
export function admit({ place, sender, isAddressed }: Visit, config: AccessConfig): Admission {
  const { dmPolicy, groupPolicy } = policiesOf(config);
  const isKnown = isListed(sender, config.allowFrom);
  const mayCommand = isKnown || config.allowFrom.length === 0;
  if (!place.isGroup) {
    if (dmPolicy === 'disabled') return refused('private messages are off');
    if (dmPolicy === 'allowlist' && !isKnown) return refused('its sender is not allowed');
    return { isAdmitted: true, mayCommand };
  }
  if (groupPolicy === 'disabled') return refused('groups are off');
  const group = config.groups[place.conversationId.replace(/^telegram:/, '')];
  if (groupPolicy === 'allowlist' && group === undefined)
    return refused('its group is not allowed');
  if (group?.allowFrom !== undefined && !isKnown && !isListed(sender, group.allowFrom))
    return refused('its sender is not allowed in this group');
  if ((group?.requireMention ?? config.requireMention) && !isAddressed)
    return refused('it does not name the bot');
  return { isAdmitted: true, mayCommand };
}

function refused(reason: string): Admission {
  return { isAdmitted: false, reason };
}

function isListed({ id, username }: Sender, people: readonly string[]): boolean {
  return people.some((one) => one === id || one === username?.toLowerCase());
}
