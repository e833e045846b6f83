import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { SluiceError } from '../../../kernel/index.js';
import { legacyError } from '../../errors.js';
import { type LegacyManifest, manifestName, notJson, parseLegacyManifest } from './manifest.js';

/** The content of a plugin's folder, before its code runs. */
export interface PluginFolder {
  readonly manifest: LegacyManifest;
  /** Its entry files, as full paths. The first one is the plugin. */
  readonly entries: readonly [string, ...string[]];
}

/** The entry files of a folder whose package names none, in the order in which they are looked for. */
const entryNames = ['index.ts', 'index.js', 'index.mjs', 'index.cjs'];

/**
 * Reads a plugin's folder. No code of the plugin runs.
 *
 * @param path the folder, its manifest, or an entry file in it.
 * @param from the folder that a relative path is read from.
 * @throws SluiceError `plugin-not-found` or `bad-manifest`.
 */
export function readPluginFolder(path: string, from: string): PluginFolder {
  const full = resolve(from, path);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (stats === undefined) throw notFound(path, `there is no ${full}`);
  const own = stats.isDirectory() ? full : dirname(full);
  const folder = stats.isDirectory() ? own : (folderWithManifest(own) ?? own);
  const file = join(folder, manifestName);
  const text = textOf(file);
  if (text === undefined) throw notFound(path, `${folder} holds no ${manifestName}`);
  const manifest = parseLegacyManifest(text, file);
  const isEntry = !stats.isDirectory() && basename(full) !== manifestName;
  return { manifest, entries: isEntry ? [full] : entriesOf(path, folder) };
}

/**
 * The folder that an entry file belongs to: the manifest lies beside it, or above it up to the package's own folder.
 */
function folderWithManifest(from: string): string | undefined {
  if (isFile(join(from, manifestName))) return from;
  const above = dirname(from);
  return isFile(join(from, 'package.json')) || above === from
    ? undefined
    : folderWithManifest(above);
}

function notFound(path: string, problem: string, wanted = manifestName): SluiceError {
  return legacyError('plugin-not-found', { path, problem, wanted });
}

function entriesOf(path: string, folder: string): readonly [string, ...string[]] {
  const [first, ...others] = namedEntries(folder).map((entry) => resolve(folder, entry));
  if (first !== undefined) {
    if (isFile(first)) return [first, ...others];
    const problem = `its package.json names the entry ${first}, which is no file`;
    throw notFound(path, problem, 'the plugin, with that file in it');
  }
  const index = entryNames.map((name) => join(folder, name)).find(isFile);
  if (index !== undefined) return [index];
  throw notFound(path, `${folder} has no entry file`, `one of ${entryNames.join(', ')}`);
}

/**
 * The entries that a package names: those that are built (`openclaw.runtimeExtensions`) come before their sources
 * (`openclaw.extensions`), which a published package may leave out. None if there is no package, or if it says nothing.
 */
function namedEntries(folder: string): string[] {
  const file = join(folder, 'package.json');
  const text = textOf(file);
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw legacyError('bad-manifest', { file, problem: notJson(cause) }, { cause });
  }
  const { runtimeExtensions, extensions } =
    (value as { readonly openclaw?: Readonly<Record<string, unknown>> } | null)?.openclaw ?? {}; // from outside
  const named =
    Array.isArray(runtimeExtensions) && runtimeExtensions.length > 0
      ? runtimeExtensions
      : extensions;
  return (Array.isArray(named) ? (named as unknown[]) : [])
    .filter((entry) => typeof entry === 'string')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** The text of a file; nothing if there is none. */
function textOf(file: string): string | undefined {
  return isFile(file) ? readFileSync(file, 'utf8') : undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
