import type { LoadedExtension } from '../../extension/index.js';
import { CommandError } from '../errors/command-error.js';
import type { ExtensionSetting, Settings } from '../settings/settings.js';

/** Channels that come with this package, and the extensions that they are in: nobody has to name those. */
const shipped: Readonly<Record<string, string>> = { telegram: 'sluice/extensions/telegram' };

/**
 * The extensions of channels that are asked for and that nothing loaded provides. Where an extension could not be
 * loaded, none is added: it may have been this one, with settings that say who may write.
 */
export function shippedExtensions(
  { channels = [], workspaceDir }: Pick<Settings, 'channels' | 'workspaceDir'>,
  loaded: readonly LoadedExtension[],
  errors: readonly unknown[],
): readonly ExtensionSetting[] {
  if (errors.length > 0) return [];
  const provided = loaded.flatMap((one) => one.provided('channel')).map(({ id }) => id);
  return channels.flatMap((name) => {
    const specifier = shipped[name];
    return specifier === undefined || provided.includes(name)
      ? []
      : [{ specifier, from: workspaceDir }];
  });
}

/** Gives the address of a Bot API to the extension that talks to it. */
export function withApiRoot(
  settings: readonly ExtensionSetting[],
  apiRoot: string | undefined,
): readonly ExtensionSetting[] {
  if (apiRoot === undefined) return settings;
  return settings.map((setting) =>
    setting.specifier === shipped['telegram']
      ? { ...setting, config: { ...(setting.config ?? {}), apiRoot } }
      : setting,
  );
}

/** @throws CommandError `bad-arguments` where an address of a Bot API is given to nobody. */
export function checkApiRoot({
  apiRoot,
  channels = [],
  extensions,
}: Pick<Settings, 'apiRoot' | 'channels' | 'extensions'>): void {
  const isUsed =
    channels.includes('telegram') ||
    extensions.some(({ specifier }) => specifier === shipped['telegram']);
  if (apiRoot === undefined || isUsed) return;
  throw new CommandError(
    'bad-arguments',
    '--api-root is for the channel "telegram"',
    'Add --channel telegram, or leave it out.',
  );
}
