import type { ChannelPlugin } from '../../channel/index.js';
import { roleEntry } from '../../host/internal.js';
import { didYouMean } from '../../kernel/index.js';
import type { Settings } from '../settings/settings.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('roles');

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
      const hint = `Mend or remove "${entry}": nobody has the role "${role}" by it.`;
      return [findings.warning(why, `${role}: ${entry}`, hint)];
    });
    const met = entries.length - unmet.length;
    return [
      ...unmet,
      ...(met === 0
        ? []
        : [findings.ok(`may be met by ${met === 1 ? 'one entry' : `${met} entries`}`, role)]),
    ];
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
  if (channel.capabilities.sendsOnly === true) return `channel "${channelId}" takes nothing in`;
  if (accountId === undefined || channel.accounts.includes(accountId)) return undefined;
  return `channel "${channelId}" has no account "${accountId}"${didYouMean(accountId, channel.accounts)}`;
}
