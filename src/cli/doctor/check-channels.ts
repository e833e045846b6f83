import type { ChannelPlugin } from '../../channel/index.js';
import { noSuchChannel } from '../pipeline/channel-packages.js';
import { type Finding, findingsOf } from './finding.js';

const findings = findingsOf('channels');

/** Looks at the channels that a host would start, and at the settings of their accounts. Nothing is connected. @param from see `noSuchChannel`. */
export async function checkChannels(
  wanted: readonly string[],
  provided: readonly ChannelPlugin[],
  from: string,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const names = provided.map((one) => one.id);
  for (const id of wanted) {
    const channel = provided.find((one) => one.id === id);
    if (channel !== undefined) found.push(...(await checkAccounts(channel)));
    else if (id === 'console') found.push(isThere(id));
    else
      found.push(
        findings.error(
          'no extension provides this channel',
          id,
          noSuchChannel(id, names, from).hint,
        ),
      );
  }
  return found;
}

async function checkAccounts(channel: ChannelPlugin): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const accountId of channel.accounts)
    try {
      await channel.checkAccount?.(accountId);
    } catch (thrown) {
      found.push({
        ...findings.thrown(thrown, `${channel.id}/${accountId}`),
        hint: 'Mend that: the account cannot be started as it is.',
      });
    }
  return found.length === 0 ? [isThere(channel.id)] : found;
}

function isThere(whose: string): Finding {
  return findings.ok('is there, and was not started', whose);
}
