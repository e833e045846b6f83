import { randomUUID } from 'node:crypto';
import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import type { Shell } from '@sluice/cli';
import {
  findConfigFile,
  type LoadedConfig,
  readConfigFile,
  unwritable,
  withElement,
  withoutElement,
} from '@sluice/cli/internal';
import { isSluiceError } from 'sluice-kernel/internal';
import { readPluginFolder } from '../../plugin/shape/plugin-folder.js';

/** The config whose plugins a command lists and changes. */
export interface PluginConfig {
  /** The config as it was read; none if there is no file yet. */
  readonly config?: LoadedConfig;
  /** The file's full path. */
  readonly file: string;
  /** The folder that paths are read from, and beside which plugins are installed. */
  readonly folder: string;
  /** The file is JSON, or there is none yet: it can be written. A module is edited by its author. */
  readonly isEditable: boolean;
}

/** Finds and reads the config of a command. */
export async function pluginConfig(
  { config: given }: { readonly config?: string },
  shell: Pick<Shell, 'cwd' | 'env' | 'keepSecrets' | 'journals'>,
): Promise<PluginConfig> {
  const name = given ?? findConfigFile(shell.cwd);
  if (name === undefined) {
    const file = join(shell.cwd, 'sluice.config.json');
    return { file, folder: shell.cwd, isEditable: true };
  }
  const config = await readConfigFile(name, shell);
  shell.keepSecrets(config.secrets);
  const file = resolve(shell.cwd, name);
  return { config, file, folder: dirname(file), isEditable: extname(file) === '.json' };
}

/** A plugin as a config names it. */
export interface PluginEntry {
  /** As it is written. */
  readonly path: string;
  /** The plugin's folder and its id, if it is there. */
  readonly folder?: string;
  readonly id?: string;
  readonly version?: string;
  /** Why it cannot be read. */
  readonly problem?: string;
}

/** The plugins of a config, in its order. */
export function pluginEntries({ config, folder }: PluginConfig): readonly PluginEntry[] {
  return (config?.plugins ?? []).map(({ path }) => {
    try {
      const found = readPluginFolder(path, folder);
      const { id, version } = found.manifest;
      return { path, folder: realpathSync(found.folder), id, ...(version && { version }) };
    } catch (thrown) {
      if (!isSluiceError(thrown)) throw thrown;
      return { path, problem: thrown.message };
    }
  });
}

/** The path of a plugin as a config names it: from the folder of the config. */
export function pathInConfig({ folder }: PluginConfig, plugin: string): string {
  const path = relative(realpathSync(folder), realpathSync(plugin)).replaceAll('\\', '/');
  if (path.startsWith('../../')) return realpathSync(plugin); // it lies elsewhere
  return path.startsWith('../') || path === '' ? path || '.' : `./${path}`;
}

/** The element of `plugins` that names a plugin. */
export function entryText(path: string): string {
  return `{ "path": ${JSON.stringify(path)} }`;
}

/** Names a plugin in a config file, which is made if there is none. All else in the file stays as it is written. */
export function addEntry({ file }: PluginConfig, path: string): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}\n';
  write(file, withElement(text, 'plugins', entryText(path)));
}

/** Takes the element at an index out of the plugins of a config file. */
export function removeEntry({ file }: PluginConfig, at: number): void {
  write(file, withoutElement(readFileSync(file, 'utf8'), 'plugins', at));
}

/** Writes a file at once: who reads it meanwhile, and who finds it after a crash, finds the old one or the new one. */
function write(file: string, text: string): void {
  const real = existsSync(file) ? realpathSync(file) : file;
  const draft = `${real}.${randomUUID()}`;
  try {
    const mode = existsSync(real) ? statSync(real).mode : undefined;
    writeFileSync(draft, text, mode === undefined ? {} : { mode });
    renameSync(draft, real);
  } catch (cause) {
    if (existsSync(draft)) rmSync(draft);
    throw unwritable(file, cause);
  }
}
