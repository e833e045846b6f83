import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openClawVersion } from './openclaw-package.js';
import { installOnce, npm } from './package-cache.js';

/** Two of its dependencies cannot be installed as they are named: one is no registry package, one needs a newer Node. */
const manifestOf = (version: string) => ({
  private: true,
  type: 'module',
  dependencies: { openclaw: version },
  overrides: { libsignal: 'npm:libsignal@6.0.0', linkedom: '0.18.12' },
});
const leaveOut = ['--ignore-scripts', '--omit=optional', '--omit=peer', '--legacy-peer-deps'];

/** Plugins for the later release need Node 22, whatever the tests run on. */
const node22Version = '22.23.3';

/**
 * Installs the real package with its dependencies in a cache outside of the repository, once per machine.
 *
 * @returns the package's own folder. Rejects with npm's own words if it cannot be installed.
 */
export async function installOpenClaw(version = openClawVersion): Promise<string> {
  const folder = await installOnce(`openclaw-full-${version}`, async (staging) => {
    await writeFile(join(staging, 'package.json'), JSON.stringify(manifestOf(version)));
    await npm(['install', ...leaveOut], staging);
  });
  return join(folder, 'node_modules', 'openclaw');
}

/** Installs Node 22 in the same cache. @returns its program. Rejects as `installNode` does. */
export function installNode22(): Promise<string> {
  return installNode(node22Version);
}

/**
 * Installs a release of Node in the same cache.
 *
 * @returns its program. Rejects with npm's own words if it cannot be installed.
 */
export async function installNode(version: string): Promise<string> {
  const folder = await installOnce(`node-${version}`, (staging) =>
    npm(['install', '--no-save', '--prefix', staging, `node@${version}`], staging),
  );
  return join(folder, 'node_modules', 'node', 'bin', 'node');
}
