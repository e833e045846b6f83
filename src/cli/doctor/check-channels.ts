import type { ChannelPlugin } from '../../channel/index.js';
import { noSuchChannel } from '../pipeline/channel-packages.js';
import { type Finding, findingOf } from './finding.js';

/** Looks at the channels that a host would start, and at what their accounts would be started with. Nothing is connected. */
export async function checkChannels(
  wanted: readonly string[],
  provided: readonly ChannelPlugin[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const id of wanted) {
    const channel = provided.find((one) => one.id === id);
    if (channel !== undefined) findings.push(...(await checkAccounts(channel)));
    else if (id === 'console') findings.push(isThere(id));
    else
      findings.push({
        severity: 'error',
        check: 'channels',
        what: 'no extension provides this channel',
        whose: id,
        hint: noSuchChannel(
          id,
          provided.map((one) => one.id),
        ).hint,
      });
  }
  return findings;
}

async function checkAccounts(channel: ChannelPlugin): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const accountId of channel.accounts)
    try {
      await channel.checkAccount?.(accountId);
    } catch (thrown) {
      findings.push({
        ...findingOf('channels', thrown, `${channel.id}/${accountId}`),
        hint: 'Mend that: the account cannot be started as it is.',
      });
    }
  return findings.length === 0 ? [isThere(channel.id)] : findings;
}

function isThere(whose: string): Finding {
  return { severity: 'ok', check: 'channels', what: 'is there, and was not started', whose };
}
