import { Command, Option } from 'commander';
import { badArguments } from '../errors/command-error.js';
import type { Settings } from '../settings/settings.js';
import { declaredChannels, noSuchChannel, packageOf } from './channel-packages.js';

/**
 * Reads the arguments that `sluice run` does not know itself: options that the channels of the settings declare. Their values
 * go into the config of the extension that declares them.
 *
 * @param run the command, whose own options tell a misspelt one.
 * @throws CommanderError for an option that no channel declares; CommandError `bad-arguments`.
 */
export async function withChannelOptions(settings: Settings, run: Command): Promise<Settings> {
  if (run.args.length === 0) return settings;
  const declared = await declaredChannels(settings);
  const reader = new Command(run.name()).helpOption(false).exitOverride();
  reader.configureOutput({ outputError: () => undefined });
  for (const option of run.options) addTo(reader, option, 'console');
  const setters = declared.flatMap(({ specifier, declaration }) =>
    (declaration.options ?? []).map(({ flags, description, setting }) => {
      const option = new Option(flags, description);
      addTo(reader, option, declaration.id);
      return { specifier, setting, name: option.attributeName() };
    }),
  );
  const absent = settings.channels?.find(
    (name) =>
      packageOf(name) !== undefined && !declared.some(({ declaration }) => declaration.id === name),
  );
  try {
    reader.parse(run.args, { from: 'user' });
  } catch (thrown) {
    if (absent === undefined) throw thrown;
    const { message, hint } = noSuchChannel(
      absent,
      declared.map(({ declaration }) => declaration.id),
      settings.workspaceDir,
    );
    throw badArguments(message, hint, { cause: thrown });
  }
  const values: Readonly<Record<string, unknown>> = reader.opts();
  const givenConfig: Record<string, Record<string, unknown>> = {};
  for (const { specifier, setting, name } of setters) {
    if (reader.getOptionValueSource(name) !== 'cli') continue;
    givenConfig[specifier] = { ...givenConfig[specifier], [setting]: values[name] };
  }
  return { ...settings, givenConfig };
}

/**
 * Adds the options that the package of a channel declares to a command, for its help.
 *
 * @returns the reason why the help lacks the options of the channel; nothing if they are there.
 */
export async function addChannelOptions(
  run: Command,
  channel: string | undefined,
  workspaceDir: string,
): Promise<string | undefined> {
  if (channel === undefined || channel === 'console') return undefined;
  const declared = await declaredChannels({ channels: [channel], extensions: [], workspaceDir });
  for (const { declaration } of declared)
    for (const { flags, description } of declaration.options ?? [])
      addTo(run, new Option(flags, description), declaration.id);
  if (declared.some(({ declaration }) => declaration.id === channel)) return undefined;
  const { message, hint } = noSuchChannel(channel, [], workspaceDir);
  return `the help lists no options of the channel "${channel}": ${message}. ${hint}`;
}

/** @throws CommandError `bad-arguments` if the reader has the option already. */
function addTo(reader: Command, option: Option, channel: string): void {
  try {
    reader.addOption(option);
  } catch (cause) {
    throw badArguments(
      `the option ${option.flags} is declared twice, the second time for the channel "${channel}"`,
      'Leave it out, and write the setting into the config file.',
      { cause },
    );
  }
}
