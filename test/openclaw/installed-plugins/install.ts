import { existsSync, mkdirSync } from 'node:fs';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installOpenClaw } from '../../support/openclaw-install.js';
import { openClawVersion } from '../../support/openclaw-package.js';
import { installOnce, npm, packageCache } from '../../support/package-cache.js';
import type { CorpusPlugin } from './corpus.js';

/** A plugin in the cache. */
export interface Installed {
  /** The plugin's folder. */
  readonly path: string;
  /** The folder of the real OpenClaw. */
  readonly openclaw: string;
}

/** Nothing is compiled, no script of a package runs, and openclaw itself, a peer, is left out. */
const plain = ['--ignore-scripts', '--omit=optional', '--omit=dev', '--legacy-peer-deps'];

/**
 * Installs a plugin with its own dependencies in the cache, once per machine, by its name and version.
 *
 * @throws Error (as a rejection) with npm's own words if it cannot be installed.
 */
export async function installPlugin(plugin: CorpusPlugin): Promise<Installed> {
  const { id, spec, dependencies, release } = plugin;
  const openclaw = await installOpenClaw(release);
  if (spec !== undefined) {
    const name = spec.slice(0, spec.lastIndexOf('@'));
    const folder = await installOnce(`plugins/${id}-${spec.slice(name.length + 1)}`, (staging) =>
      install(staging, { [name]: spec.slice(name.length + 1) }),
    );
    return { path: join(folder, 'node_modules', name), openclaw };
  }
  const name = id.replace(/^oc-/, '');
  const extension = join(openclaw, 'extensions', name);
  if (dependencies === undefined) return { path: extension, openclaw };
  const besideOpenclaw = `plugins/openclaw-${openClawVersion}`;
  await linkDependencies(openclaw, join(packageCache(), besideOpenclaw));
  const folder = await installOnce(
    `${besideOpenclaw}/extensions/${name}`,
    async (staging) => {
      await install(staging, dependencies);
      await cp(extension, staging, { recursive: true });
    },
    (one) => existsSync(join(one, 'openclaw.plugin.json')),
  );
  return { path: folder, openclaw };
}

async function install(
  folder: string,
  dependencies: Readonly<Record<string, string>>,
): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await npm(['install', ...plain], folder);
}

/** A bundled extension finds what OpenClaw brings, and the folder that the extensions share, where they lie in OpenClaw. */
async function linkDependencies(openclaw: string, folder: string): Promise<void> {
  mkdirSync(join(folder, 'extensions'), { recursive: true });
  const links = {
    node_modules: dirname(openclaw),
    'extensions/shared': join(openclaw, 'extensions/shared'),
  };
  for (const [name, target] of Object.entries(links))
    await symlink(target, join(folder, name)).catch((error: unknown) => {
      if (!existsSync(join(folder, name))) throw error; // another process may have made it
    });
}
