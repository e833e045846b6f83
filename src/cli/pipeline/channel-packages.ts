import type { ChannelDeclaration } from '@sluice/sdk/channel';
import { type Extension, type LoadedExtension, loadExtensionModule } from '@sluice/sdk/extension';
import { findModule } from '@sluice/sdk/extension/internal';
import { isSluiceError } from 'sluice-kernel';
import { badArguments, type CommandError } from '../errors/command-error.js';
import { installable } from '../installed/package-source.js';
import type { ExtensionSetting, Settings } from '../settings/settings.js';

/** An extension that says of itself which channel it provides. */
export interface DeclaredChannel {
  readonly specifier: string;
  readonly declaration: ChannelDeclaration;
}

/** Returns the name of a channel's package, which need not be named as an extension; nothing if no package can have that name. */
export function packageOf(channel: string): string | undefined {
  return /^[a-z0-9][a-z0-9-]*$/.test(channel) && channel !== 'console'
    ? `sluice-${channel}`
    : undefined;
}

/**
 * The packages of channels that are asked for and that no loaded extension provides, if they are installed. None is added if an
 * extension could not be loaded: it may provide the channel, with settings that say who may write.
 */
export async function channelPackages(
  { channels = [], workspaceDir }: Pick<Settings, 'channels' | 'workspaceDir'>,
  loaded: readonly LoadedExtension[],
  errors: readonly unknown[],
): Promise<readonly NamedPackage[]> {
  if (errors.length > 0) return [];
  const provided = loaded.flatMap((one) => one.provided('channel')).map(({ id }) => id);
  return installedPackages(
    channels.filter((one) => !provided.includes(one)).map(packageOf),
    workspaceDir,
  );
}

/** A package that the operator has named by what it provides. */
export type NamedPackage = ExtensionSetting & { readonly extensionId?: string };

/** Those of some packages that are installed. */
export async function installedPackages(
  specifiers: readonly (string | undefined)[],
  workspaceDir: string,
): Promise<readonly NamedPackage[]> {
  const settings: NamedPackage[] = [];
  for (const specifier of specifiers) {
    if (specifier === undefined) continue;
    const setting = { specifier, from: workspaceDir };
    const found = await moduleOf(setting);
    if (found === 'missing') continue;
    settings.push(found === 'broken' ? setting : { ...setting, extensionId: found.id });
  }
  return settings;
}

/** The channels that the extensions of the settings, and the packages of the channels in them, declare. Nothing is set up. */
export async function declaredChannels({
  channels = [],
  extensions,
  workspaceDir,
}: Pick<Settings, 'channels' | 'extensions' | 'workspaceDir'>): Promise<DeclaredChannel[]> {
  const declared: DeclaredChannel[] = [];
  const read = async (setting: ExtensionSetting): Promise<void> => {
    const found = await moduleOf(setting);
    const declaration = typeof found === 'string' ? undefined : found.declares?.channel;
    if (declaration !== undefined) declared.push({ specifier: setting.specifier, declaration });
  };
  for (const setting of extensions) await read(setting);
  for (const name of channels) {
    const specifier = packageOf(name);
    if (specifier === undefined || declared.some(({ declaration }) => declaration.id === name))
      continue;
    await read({ specifier, from: workspaceDir });
  }
  return declared;
}

/** The error of a channel that nothing provides. @param from the folder in which its package would be installed. */
export function noSuchChannel(
  name: string,
  provided: readonly string[],
  from: string,
): CommandError {
  const channels = `Channels: ${['console', ...provided].join(', ')}.`;
  const hints = [channels, 'An extension can provide another: --extension.'];
  hints.push(...packageHints('channel', name, packageOf(name), from));
  return badArguments(`there is no channel "${name}"`, hints.join(' '));
}

/** The packages of this project with a channel or an agent: advice names no other, because anybody may publish one by any name. */
const ownPackages = [
  ...['sluice-http', 'sluice-slack', 'sluice-telegram'],
  ...['sluice-acp', 'sluice-ai-sdk', 'sluice-langchain', 'sluice-openai', 'sluice-openai-agents'],
];

/** Tells about the package of something that is not there. @param from the folder in which it would be installed. */
export function packageHints(
  kind: 'channel' | 'agent',
  name: string,
  specifier: string | undefined,
  from: string,
): readonly string[] {
  if (specifier === undefined) return [];
  if (!isInstalled({ specifier, from }))
    return ownPackages.includes(specifier)
      ? [`The ${kind} has a package of its own, install it: npm install ${installable(specifier)}.`]
      : [
          `A package named ${specifier} would provide it. No such package is ours: install one only of somebody whom you trust.`,
        ];
  return [
    `Package ${specifier} is installed, and has provided no ${kind} "${name}": an error before this one tells why, or it is no package of that ${kind}.`,
  ];
}

/** The extension of a module. Why a module is broken is told when the pipeline loads it. */
async function moduleOf(setting: ExtensionSetting): Promise<Extension | 'missing' | 'broken'> {
  const { specifier, from } = setting;
  try {
    return await loadExtensionModule(specifier, { from });
  } catch (thrown) {
    const isThere = isInstalled(setting) || !isSluiceError(thrown, 'module-not-found');
    return isThere ? 'broken' : 'missing';
  }
}

function isInstalled({ specifier, from }: ExtensionSetting): boolean {
  try {
    return findModule(specifier, from).url.startsWith('file:');
  } catch {
    return true; // it is there, and the file that it names is not
  }
}
