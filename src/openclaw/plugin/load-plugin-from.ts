import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import process from 'node:process';
import { importError } from '@sluice/sdk/extension/internal';
import { definedFields, isSluiceError } from 'sluice-kernel/internal';
import { legacyError } from '../errors.js';
import { loadWith } from './load-plugin.js';
import { findOpenclaw, versionWarning } from './sdk/find-openclaw.js';
import { offerSdk } from './sdk/offer-sdk.js';
import { missingName, type NeededSdk, neededSdk } from './shape/needed-sdk.js';
import type { LegacyPlugin, LegacyPluginOptions } from './shape/plugin.js';
import { profileFor, readPluginFolder } from './shape/plugin-folder.js';

/** The hint of `plugin-needs-sdk`. A plain install of openclaw builds native packages, which a plugin does not need. */
const instead =
  'Name an openclaw that has it, with `--openclaw PATH` or "legacy": { "openclaw": PATH } in the config. Or install the version of openclaw that the plugin asks for beside it: `npm install openclaw@VERSION --ignore-scripts --omit=optional --legacy-peer-deps`.';

/** The options of loading a plugin from its folder. */
export interface LoadPluginFromOptions extends Omit<LegacyPluginOptions, 'manifest' | 'source'> {
  /** The folder that a relative path is read from; the working folder by default. */
  readonly from?: string;
  /** The folder of an installed openclaw, whose code the plugin imports; by default the one that Node finds beside the plugin. */
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
  const sdk = findOpenclaw(real, openclaw === undefined ? undefined : resolve(from, openclaw));
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
  const left = others.map((file) => basename(file)).join(', ');
  const warnings = [
    ...(left === '' ? [] : [`a plugin has one entry; not loaded: ${left}`]),
    versionWarning(sdk, target.asksFor) ?? [],
  ].flat();
  const profile = profileFor(target);
  return loadWith(
    module,
    { pluginId: id, ...definedFields({ profile }), ...rest, manifest, source },
    { warnings, folder, sdk, target },
  );
}
