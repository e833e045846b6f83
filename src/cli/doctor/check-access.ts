import { roleEntry } from '@sluice/host/internal';
import type { ChannelPlugin } from '@sluice/sdk/channel';
import type { ExtensionStatus } from '@sluice/sdk/extension';
import { didYouMean, hasGrant, nearestHint } from 'sluice-kernel/internal';
import type { Settings } from '../settings/settings.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('grants');

type GrantSettings = Pick<Settings, 'grants' | 'leastPrivilege'>;
type Asking = Pick<ExtensionStatus, 'extensionId' | 'manifest'>;

/** Compares the grants that extensions ask for with those that they have. A refused contribution disables its extension. */
export function checkGrants(
  settings: GrantSettings,
  statuses: readonly Asking[],
  pluginIds: readonly string[],
): Finding[] {
  const ids = statuses.map(({ extensionId }) => extensionId); // also of those that lack a grant
  return [
    ...lostGrants(settings, [...ids, ...pluginIds]),
    ...statuses.flatMap((status) => askedGrants(settings, status)),
  ];
}

/** Looks at the grants that the manifest of an extension asks for. Asking grants nothing. */
function askedGrants(
  { grants, leastPrivilege }: GrantSettings,
  { extensionId, manifest }: Asking,
): Finding[] {
  const asked = manifest?.grants ?? [];
  const held = grants[extensionId] ?? [];
  const missing = asked.filter((one) => !hasGrant(held, one, leastPrivilege));
  if (asked.length === 0) return [];
  if (missing.length === 0)
    return [findings.ok(`asks for ${asked.join(', ')}, and may`, extensionId)];
  const what = `asks for ${missing.join(', ')}, and is not granted that`;
  const hint = `If it should, write in the config: "grants": { "${extensionId}": ${JSON.stringify(missing)} }.`;
  return [findings.warning(what, extensionId, hint)];
}

/** Finds grants for extensions that are not there: a misspelt id leaves its extension without the grant. */
function lostGrants({ grants }: GrantSettings, extensionIds: readonly string[]): Finding[] {
  const lost = Object.keys(grants).filter((id) => !extensionIds.includes(id));
  return lost.map((id) => {
    const hint = nearestHint(id, extensionIds, 'Remove it, or load the extension.');
    return findings.warning(`"grants" names "${id}", and no such extension is loaded`, id, hint);
  });
}

const roleFindings = findingsOf('roles');

/** The channel of the terminal, which the command line makes. */
const consoleAccounts = { id: 'console', accounts: ['default'], capabilities: {} };

/** Names the entries of roles that no sender of this host can meet: a misspelt one gives its role to nobody. */
export function checkRoles(
  { roles }: Pick<Settings, 'roles'>,
  wanted: readonly string[],
  provided: readonly Pick<ChannelPlugin, 'id' | 'accounts' | 'capabilities'>[],
): Finding[] {
  const channels = [...provided, consoleAccounts].filter(({ id }) => wanted.includes(id));
  return Object.entries(roles).flatMap(([role, entries]) => {
    const unmet = entries.flatMap((entry) => {
      const why = whyUnmet(entry, channels);
      if (why === undefined) return [];
      const hint = `Fix or remove "${entry}": nobody has the role "${role}" by it.`;
      return [roleFindings.warning(why, `${role}: ${entry}`, hint)];
    });
    const met = entries.length - unmet.length;
    if (met === 0) return unmet;
    const what = `may be met by ${met === 1 ? 'one entry' : `${met} entries`}`;
    return [...unmet, roleFindings.ok(what, role)];
  });
}

function whyUnmet(
  entry: string,
  channels: readonly Pick<ChannelPlugin, 'id' | 'accounts' | 'capabilities'>[],
): string | undefined {
  const [, channelId = '', accountId] = roleEntry.exec(entry) ?? [];
  const channel = channels.find(({ id }) => id === channelId);
  const ids = channels.map(({ id }) => id);
  if (channel === undefined)
    return `no channel "${channelId}" is started${didYouMean(channelId, ids)}`;
  if (channel.capabilities.provesNobody === true)
    return `channel "${channelId}" proves nobody: it has no keys`;
  if (channel.capabilities.sendsOnly === true) return `channel "${channelId}" takes nothing in`;
  if (accountId === undefined || channel.accounts.includes(accountId)) return undefined;
  return `channel "${channelId}" has no account "${accountId}"${didYouMean(accountId, channel.accounts)}`;
}
