import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  badArguments,
  CommandError,
  type ExitCode,
  exitCodes,
  interrupted,
  jsonLine,
  printable,
  type Shell,
  sentence,
} from '@sluice/cli';
import { nearest } from 'sluice-kernel/internal';
import type { PluginFolder } from '../../plugin/shape/plugin-folder.js';
import { type CheckOptions, inspectPlugin, printReport } from '../check-plugin/check-plugin.js';
import type { PluginReport } from '../check-plugin/plugin-report.js';
import {
  installedPlugins,
  installPlugin,
  isPackageName,
  isTarball,
  namedFolder,
  ownFolderOf,
  removeInstalled,
} from '../installed/installed-plugins.js';
import {
  addEntry,
  entryText,
  type PluginConfig,
  pathInConfig,
  pluginConfig,
  pluginEntries,
  removeEntry,
} from './plugin-entries.js';

/**
 * Adds a plugin: installs it beside the config if it is no folder, reports on it as `check-plugin` does, and names it in the config.
 * Nothing is left of one that cannot be loaded.
 */
export async function addPlugin(
  wanted: string,
  options: CheckOptions,
  shell: Shell,
): Promise<ExitCode> {
  const place = await pluginConfig(options, shell);
  const stop = shell.takeStop();
  let report: PluginReport | undefined;
  const stopped = () => interrupted(stop, `${wanted} was not added`);
  const judge = async ({ folder, manifest }: PluginFolder): Promise<string> => {
    const other = pluginEntries(place).find(({ id }) => id === manifest.id);
    const isOwn = other?.folder !== undefined && isWithin(other.folder, place, manifest.id);
    if (other !== undefined && !isOwn && other.folder !== realpathSync(folder))
      throw new CommandError(
        'bad-config',
        `${printable(place.file)} names a plugin "${manifest.id}" already, of ${other.path}`,
        `Nothing was added. Run \`sluice plugin remove ${manifest.id}\` first.`,
      );
    report = await inspectPlugin(folder, options, place.config, shell).catch((thrown: unknown) => {
      throw stop.aborted ? stopped() : thrown;
    });
    const { error } = report;
    if (error !== undefined && error.code !== 'bad-config') {
      printReport({ ...report, path: wanted }, options, shell);
      throw new CommandError('bad-plugin', `${wanted} cannot be set up`, 'Nothing was added.', {
        exitCode: exitCodes.failed,
      });
    }
    if (stop.aborted) throw stopped();
    return manifest.id;
  };
  const found = await foundPlugin(wanted, place, shell, judge);
  const path = pathInConfig(place, found);
  const isThere = pluginEntries(place).some((entry) => entry.folder === realpathSync(found));
  const added = !isThere && place.isEditable;
  try {
    if (added) addEntry(place, path);
  } catch (thrown) {
    for (const { folder, own } of installedPlugins(place.folder))
      if (folder === found) removeInstalled(own);
    throw thrown;
  }
  if (report !== undefined) printReport({ ...report, path }, options, shell);
  if (options.json === true) shell.stdout.lines([jsonLine({ path, file: place.file, added })]);
  else shell.stdout.lines(['', ...said(place, path, isThere, report).map(printable)]);
  return exitCodes.ok;
}

/** Returns whether a folder is that of a plugin which was installed here: it is replaced. */
function isWithin(folder: string, place: PluginConfig, id: string): boolean {
  return installedPlugins(place.folder).some(
    (one) => one.manifest.id === id && realpathSync(one.folder) === folder,
  );
}

async function foundPlugin(
  wanted: string,
  place: PluginConfig,
  shell: Shell,
  judge: (found: PluginFolder) => Promise<string>,
): Promise<string> {
  const isThere = existsSync(resolve(shell.cwd, wanted));
  if (isThere && !isTarball(wanted, shell.cwd)) {
    const found = namedFolder(wanted, shell.cwd);
    await judge(found);
    return found.folder;
  }
  if (!isThere && !isPackageName(wanted))
    throw new CommandError(
      'missing-file',
      `there is no "${wanted}", and it is no name of a package`,
      'Name a folder, a tarball or a package of the registry.',
    );
  return (await installPlugin(wanted, place.folder, shell, judge)).folder;
}

function said(
  { file, isEditable }: PluginConfig,
  path: string,
  isThere: boolean,
  report: PluginReport | undefined,
): string[] {
  const needs =
    report?.error === undefined
      ? []
      : [
          `It needs settings: ${sentence(report.error.message)} Write them as "config" beside "path".`,
        ];
  if (isThere) return [`${file} names it already: ${path}`, ...needs];
  if (isEditable) return [`Added to ${file}: ${path}`, ...needs];
  return [
    `${file} is a module, which is yours to edit. Add to its "plugins":`,
    `${entryText(path)},`,
    ...needs,
  ];
}

/** Takes a plugin out of the config, and removes it if it was installed beside that. */
export async function removePlugin(
  wanted: string,
  options: CheckOptions,
  shell: Shell,
): Promise<ExitCode> {
  const place = await pluginConfig(options, shell);
  const entries = pluginEntries(place);
  const given = resolve(shell.cwd, wanted);
  const isMeant = ({ id, folder }: { readonly id?: string; readonly folder?: string }): boolean =>
    id === wanted ||
    (folder !== undefined && (folder.endsWith(`/node_modules/${wanted}`) || folder === given));
  const named = entries.flatMap((entry, at) =>
    isMeant(entry) || entry.path === wanted || resolve(place.folder, entry.path) === given
      ? [at]
      : [],
  );
  const installed = installedPlugins(place.folder).filter(({ folder, manifest: { id } }) =>
    isMeant({ id, folder }),
  );
  if (named.length + installed.length === 0) {
    const known = entries.flatMap(({ id, path }) => id ?? path);
    const close = nearest(wanted, known);
    throw badArguments(
      `there is no plugin "${wanted}" here`,
      close === undefined ? 'See `sluice plugin list`.' : `Did you mean "${close}"?`,
    );
  }
  if (named.length > 0 && !place.isEditable)
    throw new CommandError(
      'bad-config',
      `${place.file} is a module, and names the plugin`,
      `Take ${entries[named[0] ?? 0]?.path} out of its "plugins", and run this again.`,
    );
  for (const at of named.toReversed()) removeEntry(place, at);
  const damaged = named.flatMap((at) => {
    const { path = '', problem } = entries[at] ?? {};
    return problem === undefined ? [] : (ownFolderOf(path, place.folder) ?? []);
  });
  const owns = [...new Set([...installed.map(({ own }) => own), ...damaged])];
  for (const own of owns) removeInstalled(own);
  const lines = [
    ...named.map((at) => `Removed from ${place.file}: ${entries[at]?.path}`),
    ...owns.map((own) => `Deleted ${own}`),
  ];
  shell.stdout.lines(
    options.json === true ? [jsonLine({ removed: lines.length > 0 })] : lines.map(printable),
  );
  return exitCodes.ok;
}
