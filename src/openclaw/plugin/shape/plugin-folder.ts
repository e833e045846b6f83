import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { definedFields, fieldsOf, type SluiceError } from 'sluice-kernel/internal';
import { legacyError } from '../../errors.js';
import { type LegacyManifest, manifestName, notJson, parseLegacyManifest } from './manifest.js';
import type { PluginTarget } from './plugin.js';

/** The content of a plugin's folder, before its code runs. */
export interface PluginFolder {
  readonly manifest: LegacyManifest;
  readonly folder: string;
  readonly target: PluginTarget;
  /** Its entry files, as full paths. The first one is the plugin. */
  readonly entries: readonly [string, ...string[]];
}

/** The entry files of a folder whose package names none, in the order in which they are looked for. */
const entryNames = ['index.ts', 'index.js', 'index.mjs', 'index.cjs'];

/**
 * Reads a plugin's folder. No code of the plugin runs.
 *
 * @param path the folder, its manifest, an entry file in it, or the name of an installed package.
 * @param from the folder that a relative path or a name is read from.
 * @throws SluiceError `plugin-not-found` or `bad-manifest`.
 */
export function readPluginFolder(path: string, from: string): PluginFolder {
  const given = resolve(from, path);
  const full = existsSync(given) ? given : (installed(path, from) ?? given);
  const stats = statSync(full, { throwIfNoEntry: false });
  if (stats === undefined) throw notFound(path, `there is no ${full}`);
  const own = stats.isDirectory() ? full : dirname(full);
  const folder = stats.isDirectory() ? own : (folderWithManifest(own) ?? own);
  const file = join(folder, manifestName);
  const text = textOf(file);
  if (text === undefined && existsSync(join(folder, 'HOOK.md')))
    throw notFound(
      path,
      `${folder} is a hook directory (HOOK.md), which is not carried over`,
      'a plugin whose entry calls `api.registerHook(EVENTS, handler)` with its handler; or write an extension (see docs/migrating-from-openclaw.md)',
    );
  if (text === undefined) throw notFound(path, `${folder} holds no ${manifestName}`);
  const manifest = parseLegacyManifest(text, file);
  const isEntry = !stats.isDirectory() && basename(full) !== manifestName;
  const { entries, target } = packageOf(folder);
  return { manifest, folder, target, entries: isEntry ? [full] : entriesOf(path, folder, entries) };
}

/** Finds the folder of an installed package by its name, as Node does. */
function installed(name: string, from: string): string | undefined {
  if (!/^(?:@[\w.-]+\/)?[\w-][\w.-]*$/.test(name)) return undefined;
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
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

function entriesOf(
  path: string,
  folder: string,
  named: readonly string[],
): readonly [string, ...string[]] {
  const [first, ...others] = named.map((entry) => resolve(folder, entry));
  if (first !== undefined) {
    if (isFile(first)) return [first, ...others];
    const problem = `its package.json names the entry ${first}, which is no file`;
    throw notFound(path, problem, 'the plugin, with that file in it');
  }
  const index = entryNames.map((name) => join(folder, name)).find(isFile);
  if (index !== undefined) return [index];
  throw notFound(path, `${folder} has no entry file`, `one of ${entryNames.join(', ')}`);
}

/** The parts of a package that matter to its plugin. */
interface PluginPackage {
  /**
   * The entries that it names: those that are built (`openclaw.runtimeExtensions`) come before their sources
   * (`openclaw.extensions`), which a published package may leave out.
   */
  readonly entries: readonly string[];
  readonly target: PluginTarget;
}

/** Reads a plugin's package; without a file it says nothing. */
function packageOf(folder: string): PluginPackage {
  const file = join(folder, 'package.json');
  const text = textOf(file);
  if (text === undefined) return { entries: [], target: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw legacyError('bad-manifest', { file, problem: notJson(cause) }, { cause });
  }
  const { openclaw, peerDependencies, devDependencies } = fieldsOf(value);
  const { runtimeExtensions, extensions, install, build, compat } = fieldsOf(openclaw);
  const named =
    Array.isArray(runtimeExtensions) && runtimeExtensions.length > 0
      ? runtimeExtensions
      : extensions;
  const entries = (Array.isArray(named) ? (named as unknown[]) : [])
    .filter((entry) => typeof entry === 'string')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const { pluginSdkVersion, openclawVersion } = fieldsOf(build);
  const { minGatewayVersion, pluginApiRange, pluginApi } = fieldsOf(compat);
  const { minHostVersion } = fieldsOf(install);
  const { openclaw: ofPeer } = fieldsOf(peerDependencies);
  const { openclaw: ofDevelopment } = fieldsOf(devDependencies);
  const builtWith = firstText([pluginSdkVersion, openclawVersion, ofDevelopment]);
  const asked = [ofPeer, minHostVersion, minGatewayVersion, pluginApiRange, pluginApi];
  const asksFor = firstText(asked);
  return { entries, target: definedFields({ builtWith, asksFor }) };
}

function firstText(values: readonly unknown[]): string | undefined {
  return values.find((value) => typeof value === 'string');
}

/** The text of a file; nothing if there is none. */
function textOf(file: string): string | undefined {
  return isFile(file) ? readFileSync(file, 'utf8') : undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
