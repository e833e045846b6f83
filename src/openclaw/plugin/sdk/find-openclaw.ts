import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { satisfies } from 'semver';
import { legacyError } from '../../errors.js';

/** The OpenClaw whose code a plugin imports as `openclaw/plugin-sdk`. */
export interface PluginSdk {
  /** `named` by the operator, installed `beside` the plugin, or Sluice's `own` module. */
  readonly from: 'named' | 'beside' | 'own';
  /** The folder of the package. */
  readonly path?: string;
  readonly version?: string;
}

/**
 * Finds the OpenClaw of a plugin: the one that the operator names, or else the one that Node finds beside the plugin.
 *
 * @param source the plugin's entry file.
 * @param named the folder of an installed openclaw, as a full path.
 * @throws SluiceError `openclaw-not-found` if the named folder does not hold one.
 */
export function findOpenclaw(source: string, named: string | undefined): PluginSdk {
  if (named !== undefined) {
    const version = versionIn(named);
    if (version === undefined) throw legacyError('openclaw-not-found', { path: named });
    return { from: 'named', path: named, version };
  }
  for (let folder = dirname(source); ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', 'openclaw');
    const version = versionIn(path);
    if (version !== undefined) return { from: 'beside', path, version };
    if (dirname(folder) === folder) return { from: 'own' };
  }
}

/** Compares the version of an OpenClaw with the one that a plugin asks for. @returns a warning if it is another one. */
export function versionWarning(sdk: PluginSdk, asksFor: string | undefined): string | undefined {
  const { version, path } = sdk;
  if (version === undefined || path === undefined || asksFor === undefined) return undefined;
  if (satisfies(version, asksFor, { includePrerelease: true })) return undefined;
  return `it asks for openclaw ${asksFor}, and openclaw@${version} is in ${path}`;
}

function versionIn(folder: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8'));
    const { name, version } = Object(manifest) as Readonly<Record<string, unknown>>; // from outside
    return name === 'openclaw' && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
