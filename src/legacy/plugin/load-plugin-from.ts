import { basename } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { importableUrl, importError } from '../../extension/internal.js';
import { legacyError } from '../errors.js';
import { loadWith } from './load-plugin.js';
import { neededSdk } from './shape/needed-sdk.js';
import type { LegacyPlugin, LegacyPluginOptions } from './shape/plugin.js';
import { readPluginFolder } from './shape/plugin-folder.js';

/** The hint of `plugin-needs-sdk`. A plain install of openclaw builds native packages, which a plugin does not need. */
const instead =
  'Install the version of openclaw that the plugin asks for beside it: `npm install openclaw@VERSION --ignore-scripts --omit=optional --legacy-peer-deps`.';

/** The options of loading a plugin from its folder. */
export interface LoadPluginFromOptions extends Omit<LegacyPluginOptions, 'manifest' | 'source'> {
  /** The folder that a relative path is read from; the working folder by default. */
  readonly from?: string;
  /** Imports a file's URL: `import()` by default. For hosts that transform modules, and tests. */
  readonly importModule?: (url: string) => Promise<unknown>;
}

/**
 * Loads an OpenClaw plugin from its folder: the manifest, then the file that its `package.json` names under
 * `openclaw.extensions`, or its index file. TypeScript is compiled, as that of an extension is.
 *
 * @param path the folder, its manifest, or an entry file in it.
 * @throws SluiceError (as a rejection) `plugin-not-found`, `bad-manifest`, `plugin-needs-sdk`, `module-failed` or
 *   `module-needs-compiling`. What is wrong with the plugin itself is in the result, as of `loadLegacyPlugin`.
 * @example
 * const plugin = await loadLegacyPluginFrom('./extensions/thread-ownership', { kernel, config, logger });
 */
export async function loadLegacyPluginFrom(
  path: string,
  options: LoadPluginFromOptions,
): Promise<LegacyPlugin> {
  const {
    from = process.cwd(),
    importModule = (url) => import(importableUrl(url)),
    ...rest
  } = options;
  const { manifest, entries } = readPluginFolder(path, from);
  const [source, ...others] = entries;
  const { id } = manifest;
  let module: unknown;
  try {
    module = await importModule(pathToFileURL(source).href);
  } catch (thrown) {
    const needed = neededSdk(thrown, source);
    if (needed !== undefined)
      throw legacyError(
        'plugin-needs-sdk',
        { extensionId: id, ...needed, instead },
        { cause: thrown },
      );
    throw importError(thrown, path, source, from);
  }
  const left = others.map((file) => basename(file)).join(', ');
  const warnings = left === '' ? [] : [`a plugin has one entry; not loaded: ${left}`];
  return loadWith(module, { pluginId: id, ...rest, manifest, source }, warnings);
}
