import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { installOnce, npm, packageCache } from './package-cache.js';
import { temporaryFolder } from './temporary-folder.js';

/** A package that no Node of today satisfies, as openclaw is one that Node 20 does not. */
const demanding = JSON.stringify({
  name: 'demanding',
  version: '1.0.0',
  engines: { node: '>=99' },
});

afterEach(() => vi.unstubAllEnvs());

describe('an install within `npm run`, on a machine with an empty cache', {
  timeout: 300_000,
}, () => {
  it('does not inherit engine-strict: a package for another Node is installed', async () => {
    using folder = temporaryFolder({ 'demanding/package.json': demanding });
    vi.stubEnv('XDG_CACHE_HOME', join(folder.path, 'cache'));
    vi.stubEnv('npm_config_engine_strict', 'true'); // what `npm run` hands down from this project's .npmrc
    const source = `file:${join(folder.path, 'demanding')}`;
    const installed = await installOnce('demanding-1', (staging) =>
      npm(['install', '--offline', '--no-save', '--prefix', staging, source], staging),
    );
    expect(existsSync(join(installed, 'node_modules', 'demanding', 'package.json'))).toBe(true);
  });

  it('rejects with what npm says if it fails, and leaves nothing half done', async () => {
    using folder = temporaryFolder();
    vi.stubEnv('XDG_CACHE_HOME', join(folder.path, 'cache'));
    const missing = `file:${join(folder.path, 'missing')}`;
    const installing = installOnce('missing-1', (staging) =>
      npm(['install', '--offline', '--no-save', '--prefix', staging, missing], staging),
    );
    await expect(installing).rejects.toThrow(/^npm install .* failed\. .*ENOENT/);
    expect(readdirSync(packageCache())).toEqual([]);
  });
});
