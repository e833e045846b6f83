import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { oneLine } from '../../../src/kernel/internal.js';
import type { MakeLegacyRunner } from '../../../src/openclaw/parity/index.js';
import { verify } from '../../support/openclaw-package.js';
import { installOnce, npm } from '../../support/package-cache.js';
import type { HookSet } from '../hooks/hook-set.js';
import type { Unhang } from '../hooks/observe.js';

/** The release of the profile, and the packages that its runner imports. */
const version = '2026.9.6';
const tarballSha256 = '1a7355691bc0e605222ba818f1f72c1787253c78dfeb0df6be2086ec73b71e63';
const beside = ['tslog@5.2.0', 'chalk@6.0.0', '@openclaw/fs-safe@0.18.1'];

/** The hooks that its gateway runs fail-closed: the runner itself leaves that to its caller. */
const failurePolicyByHook = {
  before_agent_run: 'fail-closed',
  before_install: 'fail-closed',
  before_tool_call: 'fail-closed',
};

/**
 * The runner of the real package, bundled into one file that is kept between runs: the package has 7,297 files.
 *
 * @returns nothing if it cannot be had, with the reason on the console; in CI that is an error.
 */
export async function realRunner9(): Promise<MakeLegacyRunner | undefined> {
  try {
    const folder = await installOnce(`openclaw-runner-${version}`, cut, (one) =>
      existsSync(join(one, 'runner.mjs')),
    );
    const file = pathToFileURL(join(folder, 'runner.mjs')).href;
    const { createHookRunner } = (await import(/* @vite-ignore */ file)) as {
      createHookRunner: (registry: object, options: object) => object;
    }; // as it is cut
    return ({ typedHooks }, options) =>
      createHookRunner({ typedHooks, plugins: [] }, { ...options, failurePolicyByHook });
  } catch (error) {
    const line = `the runner of openclaw@${version} cannot be had: ${oneLine(error)}`;
    if (process.env['CI']) throw new Error(line, { cause: error });
    console.warn(line);
    return undefined;
  }
}

/** Lets the timers of a set go off: one of a few milliseconds is the shortest budget that a handler can have there. */
export function unhangReal({ handlers }: HookSet<string>): Unhang {
  let rounds = handlers.some(({ timing }) => timing === 'never') ? 4 : 0;
  return async () => {
    if (rounds-- <= 0) return false;
    await new Promise((over) => setTimeout(over, 3));
    return true;
  };
}

async function cut(staging: string): Promise<void> {
  await npm(['install', '--ignore-scripts', ...beside], staging);
  const unpacked = join(staging, 'unpacked');
  await mkdir(unpacked);
  await npm(['pack', `openclaw@${version}`, '--pack-destination', unpacked], unpacked);
  const tarball = join(unpacked, `openclaw-${version}.tgz`);
  await verify(tarball, tarballSha256);
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', unpacked, 'package/dist']);
  const dist = join(unpacked, 'package', 'dist');
  const { file, name } = await entryOf(dist);
  await build({
    stdin: {
      contents: `export { ${name} as createHookRunner } from './${file}';`,
      resolveDir: dist,
    },
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20', packages: 'external' },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    outfile: join(staging, 'runner.mjs'),
    logLevel: 'error',
  });
  await promisify(execFile)('rm', ['-rf', unpacked]);
  await writeFile(join(staging, 'package.json'), '{ "private": true }');
}

/** The file that declares the runner, and the name that it exports it by. */
async function entryOf(dist: string): Promise<{ file: string; name: string }> {
  for (const file of (await readdir(dist)).toSorted()) {
    if (!/\.m?js$/.test(file)) continue;
    const text = await readFile(join(dist, file), 'utf8');
    if (!/^function createHookRunner\(/m.test(text)) continue;
    const name = /\bcreateHookRunner as (\w+)\b/.exec(text)?.[1];
    if (name !== undefined) return { file, name };
  }
  throw new Error('no file of its dist exports createHookRunner');
}
