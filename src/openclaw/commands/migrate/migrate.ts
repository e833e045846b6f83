import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import {
  type AddCommand,
  asWord,
  CommandError,
  counted,
  type ExitCode,
  exitCodes,
  printable,
  printData,
  type Shell,
} from '@sluice/cli';
import { flagOption, packageSource, readConfigFile, writeTextFile } from '@sluice/cli/internal';
import { thisCopy } from '@sluice/sdk/extension/internal';
import type { LegacyPlugin } from '../../index.js';
import { type CheckOptions, loadOptions } from '../check-plugin/check-plugin.js';
import { answerClosed, closedOption, inClosedProcess } from '../check-plugin/closed-plugin.js';
import { placeIn } from '../check-plugin/plugin-mentions.js';
import { namedFolder, pluginPath } from '../installed/installed-plugins.js';
import { type MadeFiles, madeFiles, skeletonFiles } from './skeleton.js';

interface MigrateOptions extends CheckOptions {
  readonly out: string;
}

const help = `
Writes the skeleton of an extension that is to take the place of an OpenClaw plugin: a
contribution for each part of each hook, with its class, its options and the file and line
of the plugin's own handler; its commands and services; its config schema; a test that
compares both, hook by hook; a README with the next steps. It compiles, and its tests run:
a hook whose body is still to be moved is a todo. The plugin's register function runs, as
with \`sluice check-plugin\`; the plugin itself stays as it is.

Nothing is written over: the folder must not be there, or be empty.

Examples:
  $ sluice migrate ./acme --out acme-extension
  $ sluice migrate ./acme --out acme-extension --config sluice.json`;

/** Adds `sluice migrate`, which writes the skeleton of the extension that takes a plugin's place. */
export const addCommand: AddCommand = (command, shell, done) => {
  command
    .argument('<plugin>', "the plugin's folder, or the name of an installed package")
    .requiredOption('--out <dir>', 'the folder of the extension, which is made')
    .option('-c, --config <file>', "a config file as of `sluice run`, for the plugin's settings")
    .option('--openclaw <path>', 'the installed openclaw whose code the plugin imports')
    .addOption(flagOption('legacy.profile'))
    .option('--json', 'print a line of JSON per file')
    .option('--debug', 'stack traces of errors')
    .addOption(closedOption())
    .addHelpText('after', help)
    .action(async (path: string, options: MigrateOptions) =>
      done(await migrate(path, options, shell)),
    );
};

async function migrate(path: string, options: MigrateOptions, shell: Shell): Promise<ExitCode> {
  const { cwd } = shell;
  const out = resolve(cwd, options.out);
  if (options.closed === true)
    return answerClosed(path, options.debug === true, shell, (plugin) =>
      skeletonOf(plugin, path, out, shell),
    );
  const isFree = statSync(out, { throwIfNoEntry: false })?.isDirectory() ?? true;
  if (!isFree || (existsSync(out) && readdirSync(out).length > 0))
    throw new CommandError(
      'file-exists',
      `${printable(options.out)} is there already, and is no empty folder`,
      'Nothing was written. Choose another folder, or move it away.',
    );
  const config =
    options.config === undefined ? undefined : await readConfigFile(options.config, shell, options);
  shell.keepSecrets(config?.secrets ?? []);
  const at = await pluginPath(path, config?.folder ?? cwd, shell);
  const load = loadOptions(at, options, config, shell);
  const { folder, manifest } = namedFolder(at, cwd);
  const { made, hooks, commands, services } = await inClosedProcess<Skeleton>(
    ['migrate', at, '--out', options.out],
    { folder, load, config },
    shell,
  );
  const files = skeletonFiles(manifest, packageSource(thisCopy.folder, shell.version), made);
  for (const [file, text] of Object.entries(files)) await writeTextFile(join(out, file), text);
  const written = Object.keys(files).map((file) => join(options.out, file));
  const data = written.map((file) => ({ file, written: true }));
  printData(shell, options, data, () => [
    ...written.map((file) => `wrote ${printable(file)}`),
    '',
    `To move: ${counted(hooks, 'hook handler', 'hook handlers')}, ${counted(commands, 'command', 'commands')}, ${counted(services, 'service', 'services')}.`,
    `Next: cd ${asWord(printable(options.out))} && npm install && npm test, and README.md has the steps.`,
  ]);
  return exitCodes.ok;
}

/** The files of a plugin's skeleton, and the numbers of things that are to be moved. */
type Skeleton = Readonly<Record<'hooks' | 'commands' | 'services', number>> & {
  readonly made: MadeFiles;
};

/** Makes a part of the skeleton, in the closed process. */
function skeletonOf(plugin: LegacyPlugin, at: string, out: string, shell: Shell): Skeleton {
  if (plugin.error !== undefined) throw plugin.error;
  const { folder, manifest } = namedFolder(at, shell.cwd);
  const { hooks, commands, services } = plugin;
  const path = relative(join(out, 'test'), folder);
  const made = madeFiles({ plugin, manifest, path, placeOf: (one) => placeIn(folder, one) });
  return { made, hooks: hooks.length, commands: commands.length, services: services.length };
}
