import { channelRules } from './channel-rules.js';
import type { ConformanceCheck } from './check.js';
import {
  type ChannelConformanceOptions,
  type ChannelUnderTest,
  runningChannel,
} from './running-channel.js';

/**
 * The rules of a channel, as checks for any test runner: intake, order, decoding, permits, failed sends, and the stop.
 *
 * @param make makes the channel with a provider where nothing was said yet.
 * @example
 * for (const { name, run } of channelConformance(makePigeon)) it(name, run);
 */
export function channelConformance(
  make: () => ChannelUnderTest | Promise<ChannelUnderTest>,
  { timeoutMs = 5_000 }: ChannelConformanceOptions = {},
): readonly ConformanceCheck[] {
  return Object.entries(channelRules).map(([name, rule]) => ({
    name,
    run: async () => {
      await using subject = runningChannel(await make(), timeoutMs);
      await rule(subject);
    },
  }));
}
