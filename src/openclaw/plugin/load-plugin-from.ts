import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { importError, missingIn } from '@sluice/sdk/extension/internal';
import { isSluiceError } from 'sluice-kernel/internal';
import { legacyError } from '../errors.js';
import { inferProfile } from '../profiles/infer-profile.js';
import { loadWith } from './load-plugin.js';
import { findOpenclaw, type PluginSdk, versionWarning } from './sdk/find-openclaw.js';
import { offerSdk } from './sdk/offer-sdk.js';
import type { LegacyPlugin, LegacyPluginOptions } from './shape/plugin.js';
import { readPluginFolder } from './shape/plugin-folder.js';

/** The hint of `plugin-needs-sdk`. A plain install of openclaw builds native packages, which a plugin does not need. */
const instead =
  'Name an openclaw that has it, with `--openclaw PATH` or "legacy": { "openclaw": PATH } in the config. Or install the version of openclaw that the plugin asks for beside it: `npm install openclaw@VERSION --ignore-scripts --omit=optional --legacy-peer-deps`.';

/** The options of loading a plugin from its folder. */
export interface LoadPluginFromOptions extends Omit<LegacyPluginOptions, 'manifest' | 'source'> {
  /** The folder that a relative path is read from; the working folder by default. */
  readonly from?: string;
  /**
   * The folder of an installed openclaw, whose code the plugin imports; by default the one that Node finds beside the plugin.
   * A release such as `2026.9.6`, if no folder has that name, says which hooks the plugin gets, and no more.
   */
  readonly openclaw?: string;
  /** Imports a file's URL: `import()` by default. The URL says how Sluice's hooks load it. For hosts that transform modules, and tests. */
  readonly importModule?: (url: string) => Promise<unknown>;
}

/**
 * Loads an OpenClaw plugin from its folder: the manifest, then the file that its `package.json` names under
 * `openclaw.runtimeExtensions` or `openclaw.extensions`, or its index file. TypeScript is compiled, as that of an extension is.
 * Its imports of `openclaw/plugin-sdk` are served as the event pipeline's §17.13 says.
 *
 * @param path the folder, its manifest, an entry file in it, or the name of an installed package.
 * @throws SluiceError (as a rejection) `plugin-not-found`, `bad-manifest`, `openclaw-not-found`, `plugin-needs-sdk` or
 *   `module-failed`. What is wrong with the plugin itself is in the result, as of `loadLegacyPlugin`.
 * @example
 * const plugin = await loadLegacyPluginFrom('./extensions/thread-ownership', { kernel, config, logger });
 */
export async function loadLegacyPluginFrom(
  path: string,
  options: LoadPluginFromOptions,
): Promise<LegacyPlugin> {
  const { from = process.cwd(), importModule = (url) => import(url), openclaw, ...rest } = options;
  const { manifest, folder, target, entries } = readPluginFolder(path, from);
  const [source, ...others] = entries;
  const { id } = manifest;
  const real = realpathSync(source); // Node knows a module by its real path
  const named = openclaw === undefined ? undefined : resolve(from, openclaw);
  const release = releaseNamed(named);
  const sdk = findOpenclaw(real, release === undefined ? named : undefined);
  const refused = (needed: NeededSdk, cause?: unknown) =>
    legacyError('plugin-needs-sdk', { extensionId: id, ...needed, instead }, { cause });
  const missing = (file: string, specifier: string, name: string) =>
    refused(missingName(file, specifier, name, sdk));
  let module: unknown;
  try {
    module = await importModule(offerSdk(real, realpathSync(folder), { sdk, missing }));
  } catch (thrown) {
    if (isSluiceError(thrown, 'plugin-needs-sdk')) throw thrown;
    const needed = neededSdk(thrown, source, sdk);
    throw needed === undefined ? importError(thrown, path, source, from) : refused(needed, thrown);
  }
  const entry = (): string => readFileSync(real, 'utf8');
  const signs = { ...target, openclaw: release ?? sdk.version, entry };
  const { profile, guessedFrom } = inferProfile(signs);
  const isGuess = guessedFrom !== undefined && rest.profile === undefined;
  const guess = `it gets profile ${profile}, a guess from its ${guessedFrom}: --legacy-profile (legacy.profile in the config) gives it another`;
  const left = others.map((file) => basename(file)).join(', ');
  const warnings = [
    ...(left === '' ? [] : [`a plugin has one entry; not loaded: ${left}`]),
    versionWarning(sdk, target.asksFor) ?? [],
    isGuess ? guess : [],
  ].flat();
  return loadWith(
    module,
    { pluginId: id, profile, ...rest, manifest, source },
    { warnings, folder, sdk, target },
  );
}

/** The release of OpenClaw that a path names, if there is nothing at it. */
function releaseNamed(path = ''): string | undefined {
  const release = /^20\d\d\.\d+(?:\.[\w.-]+)?$/.exec(basename(path))?.[0];
  try {
    return release === undefined || existsSync(path) ? undefined : release;
  } catch {
    return release; // a closed process may read what is there, and no more
  }
}

/** The import of OpenClaw's own code that a plugin could not be loaded for. */
interface NeededSdk {
  /** The file that imports it. */
  readonly file: string;
  /** As the file names it: `openclaw/plugin-sdk/core`. */
  readonly specifier: string;
  readonly problem: string;
}

/**
 * Reads out of a failed import that OpenClaw's own code was missing. Node's error names the package and not the subpath: the
 * file that imports it does.
 *
 * @param sdk the OpenClaw that the plugin was offered.
 * @param source the plugin's entry file: it is named if the error names none.
 * @returns nothing if the import failed for another reason.
 */
function neededSdk(thrown: unknown, source: string, sdk: PluginSdk): NeededSdk | undefined {
  const text = thrown instanceof Error ? thrown.message : '';
  const [, module, name] =
    /^The requested module '(openclaw[^']*)' does not provide an export named '([^']+)'/.exec(
      text,
    ) ?? [];
  if (module !== undefined && name !== undefined)
    return missingName(placeIn(thrown, module, name) ?? source, module, name, sdk);
  const file = importerIn(text) ?? source;
  const missing = missingIn(thrown);
  if (missing !== undefined && /^openclaw(\/|$)/.test(missing)) {
    const specifier = missing === 'openclaw' ? (importIn(file) ?? missing) : missing;
    return { file, specifier, problem: 'it is not installed beside the plugin' };
  }
  const [, subpath, manifest] =
    /^Package subpath '\.\/([^']+)' is not defined by "exports" in (\S*openclaw[/\\]package\.json)/.exec(
      text,
    ) ?? [];
  if (subpath === undefined || manifest === undefined) return undefined;
  const problem = `openclaw@${versionOf(manifest)}, which is installed in ${dirname(manifest)}, does not export it`;
  return { file, specifier: `openclaw/${subpath}`, problem };
}

/** The import of a name that neither the plugin's OpenClaw nor Sluice has. */
function missingName(
  file: string,
  specifier: string,
  name: string,
  { version, path }: PluginSdk,
): NeededSdk {
  const problem =
    version === undefined
      ? `Sluice, which stands in for it, has no "${name}"`
      : `neither openclaw@${version} of ${path} nor Sluice has "${name}" there`;
  return { file, specifier, problem };
}

/** The file with which the stack of a failed import begins, and the line of the name there: the stack has that of the compiled text. */
function placeIn(thrown: unknown, module: string, name: string): string | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const [, url, line] = /^(file:\S+?)(?:\?\S*)?:(\d+)$/m.exec(stack) ?? [];
  if (url === undefined) return undefined;
  const file = fileURLToPath(url);
  return `${file}:${lineOf(readFileSync(file, 'utf8'), module, name) ?? line}`;
}

/** The line on which a text imports a name of a module, counted from 1. */
function lineOf(text: string, module: string, name: string): number | undefined {
  const names = /(?:import|export)\b([^'";]*?)\bfrom\s*['"]([^'"]+)['"]/g;
  for (const { 0: all, 1: list = '', 2: from, index } of text.matchAll(names)) {
    const at = list.split(/[\s,{}]+/).includes(name) ? index + all.indexOf(name) : undefined;
    if (from === module && at !== undefined) return text.slice(0, at).split('\n').length;
  }
  return undefined;
}

/** Node names the importing file at the end, as a path or as a URL. */
function importerIn(text: string): string | undefined {
  const named = / imported from (\S+)$/.exec(text.split('\n', 1)[0] ?? '')?.[1];
  if (named === undefined) return undefined;
  const path = named.startsWith('file:') ? fileURLToPath(named) : named;
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

/** The first import of OpenClaw in a file that is no type's alone. */
function importIn(file: string): string | undefined {
  const text = readFileSync(file, 'utf8').replace(/import\s+type\s[^;]*;/g, '');
  return /['"](openclaw(?:\/[\w./-]+)?)['"]/.exec(text)?.[1];
}

function versionOf(manifest: string): string {
  const { version } = JSON.parse(readFileSync(join(manifest.trim()), 'utf8')) as {
    readonly version?: unknown;
  }; // a package that Node has just read
  return String(version);
}
