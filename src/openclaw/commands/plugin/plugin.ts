import { realpathSync } from 'node:fs';
import {
  type AddCommand,
  type ExitCode,
  exitCodes,
  jsonLine,
  printable,
  type Shell,
} from '@sluice/cli';
import { flagOption, type PipelineOptions } from '@sluice/cli/internal';
import type { Command } from 'commander';
import { definedFields } from 'sluice-kernel/internal';
import { type CheckOptions, checkPlugin } from '../check-plugin/check-plugin.js';
import { installedPlugins } from '../installed/installed-plugins.js';
import { addPlugin, removePlugin } from './add-plugin.js';
import { pluginConfig, pluginEntries } from './plugin-entries.js';
import { callPluginMethod, runPluginCommand } from './use-plugin.js';

const help = `
A plugin that is a package or a tarball is installed by npm in "sluice-plugins" beside the
config, without running a script of it. A folder is named as it is. To add or check a
plugin imports it and calls its register function, as \`sluice check-plugin\` does. Each
action takes --config, --openclaw, --legacy-profile and --debug, and has a --help. All but
run take --json.

Examples:
  $ sluice plugin add ./my-plugin
  $ sluice plugin add @acme/openclaw-pigeon@1.2.0
  $ sluice plugin list
  $ sluice plugin check pigeon
  $ sluice plugin remove pigeon
  $ sluice plugin run pigeon fly --to me
  $ sluice plugin call pigeon.send --params '{"to": "me"}'`;

/** The examples above that belong to an action. */
const examplesOf = (action: string): string =>
  help
    .split('\n')
    .filter((line) => line.startsWith(`  $ sluice plugin ${action}`))
    .join('\n');

/** Adds `sluice plugin`, which installs, lists, removes and checks the OpenClaw plugins of a config. */
export const addCommand: AddCommand = (command, shell, done) => {
  command.enablePositionalOptions().addHelpText('after', help);
  command.parent?.enablePositionalOptions();
  const plain = (name: string, summary: string): Command =>
    command
      .command(name)
      .description(summary)
      .addHelpText('after', `\nExamples:\n${examplesOf(name)}`)
      .option('-c, --config <file>', 'the config (default: sluice.config.* here)')
      .addOption(flagOption('legacy.openclaw'))
      .addOption(flagOption('legacy.profile'))
      .option('--debug', 'stack traces of errors, and every log line of the plugin');
  const action = (name: string, summary: string, json = 'print a line of JSON per entry') =>
    plain(name, summary).option('--json', json);
  action('list', 'the plugins of the config, and those that are installed beside it').action(
    async (options: CheckOptions) => done(await listPlugins(options, shell)),
  );
  action('add', 'install a plugin, say what it becomes, and name it in the config')
    .argument('<plugin>', 'a folder, a tarball, or the name of a package, NAME or NAME@VERSION')
    .option('--strict-plugins', 'refuse a plugin that asks for what is not here')
    .action(async (wanted: string, options: CheckOptions) =>
      done(await addPlugin(wanted, options, shell)),
    );
  action('remove', 'take a plugin out of the config, and delete what was installed of it')
    .argument('<plugin>', 'its id, its package or its path')
    .action(async (wanted: string, options: CheckOptions) =>
      done(await removePlugin(wanted, options, shell)),
    );
  plain('run', 'run a command line that a plugin brings (registerCli)')
    .argument('<plugin>', 'its id, its folder, a tarball, or the name of an installed package')
    .argument('[args...]', 'the arguments of its command line; none shows its help')
    .passThroughOptions()
    .action(async (name: string, args: string[], options: PipelineOptions) =>
      done(await runPluginCommand(name, args, options, shell)),
    );
  action(
    'call',
    'call a gateway method that a plugin of the config brings',
    'print its answer as a line of JSON',
  )
    .argument('<method>', 'its name, such as pigeon.send')
    .option('--params <json>', 'its parameters, an object of JSON')
    .option('--timeout <seconds>', 'how long its answer may take (default: 30)')
    .addOption(flagOption('plugins'))
    .action(async (method: string, options: PipelineOptions) =>
      done(await callPluginMethod(method, options, shell)),
    );
  action('check', 'say what a plugin becomes here, as `sluice check-plugin` does')
    .argument('<plugin>', 'its id, its folder, a tarball, or the name of an installed package')
    .option('--strict-plugins', 'refuse what is not here')
    .option('--report <file>', 'write the whole report to a file, as Markdown')
    .action(async (path: string, options: CheckOptions) => {
      const place = await pluginConfig(options, shell);
      const file = place.config === undefined ? {} : { config: place.config.file };
      const named = pluginEntries(place).find(({ id }) => id === path); // also one that was not installed here
      done(await checkPlugin(named?.folder ?? path, { ...options, ...file }, shell));
    });
};

async function listPlugins(options: CheckOptions, { stdout, ...rest }: Shell): Promise<ExitCode> {
  const place = await pluginConfig(options, rest);
  const entries = pluginEntries(place);
  const installed = installedPlugins(place.folder);
  const isIn = (list: readonly { readonly folder?: string }[], folder: string): boolean =>
    list.some((one) => one.folder !== undefined && realpathSync(one.folder) === folder);
  const others = installed.filter(({ folder }) => !isIn(entries, realpathSync(folder)));
  const rows = [
    ...entries.map(({ folder, ...entry }) => ({
      ...entry,
      isInConfig: true,
      isInstalled: folder !== undefined && isIn(installed, folder),
    })),
    ...others.map(({ folder, manifest: { id, version } }) => ({
      ...definedFields({ id, version }),
      path: folder,
      problem: undefined,
      isInConfig: false,
      isInstalled: true,
    })),
  ];
  if (options.json === true) stdout.lines(rows.map(jsonLine));
  else if (rows.length === 0) stdout.lines(['There is no plugin. Add one: sluice plugin add NAME']);
  else
    stdout.lines(
      rows.map(({ id, version, path, problem, isInConfig }) =>
        printable(
          `${[id ?? 'unreadable', version ?? ''].join(' ').trim()}  ${path}${isInConfig ? '' : '  installed, not in the config'}${problem === undefined ? '' : `  ${problem}`}`,
        ),
      ),
    );
  return rows.some(({ problem }) => problem !== undefined) ? exitCodes.failed : exitCodes.ok;
}
