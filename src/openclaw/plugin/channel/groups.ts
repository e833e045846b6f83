import { type Fields, fieldsOf } from 'sluice-kernel/internal';
import { sectionsOf, textOf } from './settings.js';

interface Asked {
  readonly cfg: unknown;
  readonly channel: unknown;
  readonly accountId?: unknown;
  readonly groupId?: unknown;
  readonly groupIdCaseInsensitive?: boolean;
  readonly hasGroupAllowFrom?: boolean;
  readonly requireMentionOverride?: boolean;
  readonly overrideOrder?: 'before-config' | 'after-config';
}

/** `resolveGroupPolicy`: whether the configuration lets a group in, and its settings. */
export function resolveGroupPolicy(asked: Asked) {
  const sections = sectionsOf(asked.cfg, asked.channel, asked.accountId);
  const set = (key: string): unknown =>
    sections.map((section) => section[key]).find((value) => value !== undefined);
  const groups = fieldsOf(set('groups'));
  const policy = set('groupPolicy');
  const names = Object.keys(groups);
  const id = textOf(asked.groupId);
  const key =
    asked.groupIdCaseInsensitive === true
      ? names.find((name) => name.toLowerCase() === id?.toLowerCase())
      : id;
  const found = (name: string | undefined): Fields | undefined =>
    name !== undefined && Object.hasOwn(groups, name) ? fieldsOf(groups[name]) : undefined;
  const groupConfig = found(key);
  const defaultConfig = found('*');
  const allowlistEnabled = policy === 'allowlist' || names.length > 0;
  const isListed = groupConfig !== undefined || defaultConfig !== undefined;
  const bySender = policy === 'allowlist' && names.length === 0 && asked.hasGroupAllowFrom === true;
  const allowed = policy !== 'disabled' && (!allowlistEnabled || isListed || bySender);
  return { allowlistEnabled, allowed, groupConfig, defaultConfig };
}

/** `resolveRequireMention`: whether the agent answers in a group only when it is named; so by default. */
export function resolveRequireMention(asked: Asked): boolean {
  const { groupConfig, defaultConfig } = resolveGroupPolicy(asked);
  const { requireMentionOverride: override, overrideOrder } = asked;
  const configured = [groupConfig?.['requireMention'], defaultConfig?.['requireMention']];
  const order =
    overrideOrder === 'before-config' ? [override, ...configured] : [...configured, override];
  return order.find((one) => typeof one === 'boolean') !== false;
}
