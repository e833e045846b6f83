import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { oneLine } from '../../src/kernel/internal.js';
import { regionOf } from '../../src/openclaw/parity/openclaw-runner.js';
import { verify } from './openclaw-package.js';
import { npm, packageCache } from './package-cache.js';

/** The release whose plugins may ask humans. */
const version = '2026.9.6';
const tarballSha256 = '1a7355691bc0e605222ba818f1f72c1787253c78dfeb0df6be2086ec73b71e63';

/** The source modules that decide about the approval of a tool call. */
const regions = {
  matcher: 'src/plugins/tool-hook-matcher.ts',
  isolation: 'src/plugins/hook-isolation.ts',
  timeout: 'src/plugins/hook-timeout.ts',
  hooks: 'src/plugins/hooks.ts',
  approvals: 'src/infra/plugin-approvals.ts',
  canonicalDecisions: 'src/infra/plugin-approval-canonical-decisions.ts',
  resolutions: 'src/plugins/hook-before-tool-call-result.ts',
  broker: 'src/infra/embedded-plugin-approval-broker.ts',
  toolApproval: 'src/agents/agent-tools.before-tool-call.approval.ts',
} as const;

/** The text of each of these modules. */
export type OpenClawRegions = Readonly<Record<keyof typeof regions, string>>;

/**
 * The regions of the real package. It is fetched once per machine, and these regions alone are kept: they are 0.1 percent of it. In CI
 * they have to be there.
 *
 * @param options.fetch fetches the package if the regions are not in the cache.
 * @returns nothing if they cannot be had; the reason is on the console.
 */
export async function openClawRegions(options: {
  fetch: boolean;
}): Promise<OpenClawRegions | undefined> {
  const kept = join(packageCache(), `openclaw-${version}-regions.json`);
  try {
    if (!existsSync(kept) && options.fetch) await keep(kept);
    return JSON.parse(await readFile(kept, 'utf8')) as OpenClawRegions; // as keep has written it
  } catch (error) {
    const line = `openclaw@${version} cannot be had: ${oneLine(error)}`;
    if (process.env.CI) throw new Error(line, { cause: error });
    console.warn(line);
    return undefined;
  }
}

async function keep(kept: string): Promise<void> {
  await mkdir(packageCache(), { recursive: true });
  const scratch = await mkdtemp(join(packageCache(), 'unpacking-'));
  try {
    await npm(['pack', `openclaw@${version}`, '--pack-destination', scratch], scratch);
    const tarball = join(scratch, `openclaw-${version}.tgz`);
    await verify(tarball, tarballSha256);
    await promisify(execFile)('tar', ['-xzf', tarball, '-C', scratch, 'package/dist']);
    const found = await textsOf(join(scratch, 'package', 'dist'));
    const written = join(scratch, 'regions.json');
    await writeFile(written, JSON.stringify(found));
    await rename(written, kept);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function textsOf(dist: string): Promise<Partial<Record<string, string>>> {
  const found: Partial<Record<string, string>> = {};
  for (const file of (await readdir(dist)).toSorted()) {
    if (!file.endsWith('.mjs')) continue;
    const bundle = await readFile(join(dist, file), 'utf8');
    for (const [name, path] of Object.entries(regions)) found[name] ??= regionOf(bundle, path);
  }
  const missing = Object.keys(regions).filter((name) => found[name] === undefined);
  if (missing.length > 0) throw new Error(`its dist has no ${missing.join(', ')}`);
  return found;
}
