import type { Groups } from '../carried/settings.js';
import type { Node } from '../source/node.js';

/** The people whom an account lets in, and where they must name the bot. `*` stands for everybody. */
export interface AccountAccess {
  readonly dm: string[];
  readonly groups: Groups;
  readonly mention: Readonly<Record<string, boolean>>;
}

/** A channel that has a package here: how OpenClaw names its groups, and who is a person there. */
export interface ChannelKind {
  readonly id: 'telegram' | 'slack';
  readonly groups: 'groups' | 'channels';
  readonly people: 'allowFrom' | 'users';
  /** The setting of our package for the policy of groups. */
  readonly policy: 'groupPolicy' | 'channelPolicy';
  readonly isGroup: RegExp;
  readonly isPerson: RegExp;
  /** Nobody: a list without anybody would let everybody give commands. */
  readonly nobody: string;
}

/** Reads a setting of an account by one of its names, and that of its channel if the account has none of its own. */
export type SettingOf = (...names: readonly string[]) => Node;

/** Takes the name of the channel away: `tg:43`, `telegram:43` and `user:U1` are people. */
export function person(text: string): string {
  return text
    .trim()
    .replace(/^(telegram|tg|slack):/i, '')
    .replace(/^user:/i, '')
    .replace(/^@/, '');
}

/** The ids of a list. A name can be given up and taken by somebody else: OpenClaw lets no name in. */
const listOf = (node: Node): string[] | undefined =>
  node.isThere
    ? node
        .texts()
        .map(person)
        .filter((one) => /^(\*|\d+|[UW][A-Z\d]{2,})$/.test(one))
    : undefined;
const isOff = (node: Node): boolean =>
  node.get('enabled').flag() === false || node.get('allow').flag() === false;

/** The people who may write to a bot in private. @param paired the people whom the owner has let in by a code. */
export function privateAccess(of: SettingOf, paired: readonly string[]): string[] {
  const policy = of('dmPolicy', 'dm.policy').text() ?? 'pairing';
  if (policy === 'disabled' || of('dm.enabled').flag() === false) return [];
  const listed = listOf(of('allowFrom', 'dm.allowFrom')) ?? [];
  if (policy === 'open') return listed;
  const named = listed.filter((one) => one !== '*');
  return policy === 'pairing' ? [...new Set([...named, ...paired])] : named;
}

/**
 * The people who may write in the groups of an account, and in their topics.
 *
 * @param usual the policy of groups that holds if the account has none.
 * @param onName is told of a group that has a name in place of its id, and whether it restricts anybody.
 */
export function groupAccess(
  kind: ChannelKind,
  of: SettingOf,
  usual: string,
  onName: (node: Node, doesRestrict: boolean) => void,
): Omit<AccountAccess, 'dm'> {
  const top = of('groupPolicy').text() ?? usual;
  const named = of(kind.groups);
  const star = named.get('*');
  const everyone =
    kind.id === 'slack' ? ['*'] : (listOf(of('groupAllowFrom')) ?? listOf(of('allowFrom')) ?? []);
  const peopleIn = (node: Node, policy: string, above: string[] | undefined): string[] =>
    isOff(node) || policy === 'disabled'
      ? []
      : (listOf(node.get(kind.people)) ?? above ?? (policy === 'open' ? ['*'] : everyone));
  const isOpen = top === 'open' && (kind.id === 'slack' || named.entries().length === 0);
  const groups: Groups = isOpen ? { '*': { people: peopleIn(star, top, undefined) } } : {};
  const mention: Record<string, boolean> = {};
  for (const [id, group] of named.entries()) {
    if (id !== '*' && !kind.isGroup.test(id)) {
      onName(group, isOpen && (isOff(group) || group.get(kind.people).isThere));
      continue;
    }
    const policy = group.get('groupPolicy').text() ?? top;
    const above = listOf(group.get(kind.people)) ?? listOf(star.get(kind.people));
    const topics = group
      .get('topics')
      .entries()
      .map(([topic, node]) => {
        const own = isOff(group) ? 'disabled' : (node.get('groupPolicy').text() ?? policy);
        return [topic, peopleIn(node, own, above)] as const;
      });
    groups[id] = {
      people: peopleIn(group, policy, above),
      ...(topics.length > 0 && { topics: Object.fromEntries(topics) }),
    };
    const mentions = [group, star].map((node) => node.get('requireMention').flag());
    mention[id] = mentions[0] ?? mentions[1] ?? of('requireMention').flag() ?? true;
  }
  return { groups, mention };
}

/**
 * The settings of a channel package that let in whoever one of its accounts lets in. The gate of the imported extension judges each
 * account, group and topic by itself.
 */
export function channelRules(kind: ChannelKind, accounts: readonly AccountAccess[]) {
  const known = (ids: readonly string[]): string[] => {
    const people = [...new Set(ids)].filter((id) => kind.isPerson.test(id));
    return people.length > 0 ? people : [kind.nobody];
  };
  const dm = accounts.flatMap((one) => one.dm);
  const mustName = (id: string): boolean =>
    accounts.some((one) => one.groups[id] !== undefined && one.mention[id] !== false);
  const ids = [...new Set(accounts.flatMap((one) => Object.keys(one.groups)))];
  const rules = ids
    .filter((id) => id !== '*')
    .map((id) => {
      const within = accounts.flatMap(({ groups }) => [
        ...(groups[id]?.people ?? []),
        ...Object.values(groups[id]?.topics ?? {}).flat(),
      ]);
      const allowed = within.includes('*') ? {} : { allowFrom: known(within) };
      return [id, { requireMention: mustName(id), ...allowed }] as const;
    });
  return {
    dmPolicy: dm.includes('*') ? 'open' : 'allowlist',
    allowFrom: dm.length > 0 && dm.every((id) => id === '*') ? [] : known(dm),
    [kind.policy]: ids.includes('*') ? 'open' : 'allowlist',
    [kind.groups]: Object.fromEntries(rules),
    requireMention: !ids.includes('*') || mustName('*'),
  };
}
