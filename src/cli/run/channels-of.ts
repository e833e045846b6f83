import type { ChannelPlugin } from '../../channel/index.js';
import type { LoadedExtension } from '../../extension/index.js';
import { noSuchChannel } from '../pipeline/channel-packages.js';

/**
 * The channels besides those that extensions provide: the console, unless others are asked for.
 *
 * @param from the folder in which packages of channels are installed.
 * @throws CommandError `bad-arguments` where no extension provides one that is asked for.
 */
export function channelsOf(
  wanted: readonly string[] = ['console'],
  extensions: readonly LoadedExtension[],
  console: () => ChannelPlugin,
  from: string,
): readonly ChannelPlugin[] {
  const provided = extensions.flatMap((one) => one.provided('channel')).map(({ id }) => id);
  const unknown = wanted.find((name) => name !== 'console' && !provided.includes(name));
  if (unknown !== undefined) throw noSuchChannel(unknown, provided, from);
  return wanted.includes('console') ? [console()] : [];
}
