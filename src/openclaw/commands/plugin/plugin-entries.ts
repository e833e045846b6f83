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
} from '@sluice/cli/internal';
import { type Node, parseTree } from 'jsonc-parser';
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
interface PluginEntry {
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
  write(file, withEntry(text, entryText(path)));
}

/** Takes the element at an index out of the plugins of a config file. */
export function removeEntry({ file }: PluginConfig, at: number): void {
  write(file, withoutEntry(readFileSync(file, 'utf8'), at));
}

/** The object that a config of JSON is, and its list of plugins. */
function placesIn(text: string): {
  readonly top: Node | undefined;
  readonly list: Node | undefined;
} {
  const top = parseTree(text);
  const member = top?.children?.findLast(({ children }) => children?.[0]?.value === 'plugins');
  return { top, list: member?.children?.[1] };
}

function withEntry(text: string, entry: string): string {
  const { top, list } = placesIn(text);
  const [{ offset, length, children = [] } = { offset: 0, length: 2 }, item] =
    list === undefined ? [top, `"plugins": [${entry}]`] : [list, entry];
  const [first, last] = [children[0], children.at(-1)];
  const start = offset + 1;
  if (first === undefined || last === undefined)
    return `${text.slice(0, start)}${list === undefined ? `\n  ${item}\n` : item}${text.slice(offset + length - 1)}`;
  const blanks = text.slice(start, first.offset); // those of the items before it
  const end = last.offset + last.length;
  return `${text.slice(0, end)},${blanks === '' ? ' ' : blanks}${item}${text.slice(end)}`;
}

function withoutEntry(text: string, at: number): string {
  const { list } = placesIn(text);
  const [before, item, after] = [at - 1, at, at + 1].map((one) => list?.children?.[one]);
  if (list === undefined || item === undefined) return text;
  if (after !== undefined) return text.slice(0, item.offset) + text.slice(after.offset);
  const from = before === undefined ? list.offset + 1 : before.offset + before.length;
  const to = before === undefined ? list.offset + list.length - 1 : item.offset + item.length;
  return text.slice(0, from) + text.slice(to);
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
