import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { oneLine } from '../../src/kernel/internal.js';
import { npm, packageCache } from './package-cache.js';

const run = promisify(execFile);

/** The release that "legacy" means. Its dist marks where each source module begins. */
export const openClawVersion = '2026.3.13';
const tarballSha256 = '6711d9f8c4f12bdbdcd5090e6865e2ee141b8cda3eaa8f20259304406a20e96a';

/** The unpacked package, or why it is not there. */
export type OpenClawPackage =
  | { readonly root: string; readonly absent?: undefined }
  | { readonly root?: undefined; readonly absent: string };

/** Where the package is kept between runs: outside of every repository. */
export function openClawCache(): string {
  return join(packageCache(), `openclaw-${openClawVersion}`);
}

/**
 * The real package, unpacked. Fetched by npm once per machine if `fetch` is set; two processes that do it at once do
 * not see each other's halves. In CI it has to be there: no suite is skipped.
 */
export async function openClawPackage(options: { fetch?: boolean } = {}): Promise<OpenClawPackage> {
  const found = await find(options);
  if (found.absent !== undefined && process.env.CI)
    throw new Error(`The parity suites cannot run. ${found.absent}`);
  return found;
}

async function find(options: { fetch?: boolean }): Promise<OpenClawPackage> {
  const cache = openClawCache();
  const root = join(cache, 'package');
  if (existsSync(root)) return { root };
  const tarball = join(cache, `openclaw-${openClawVersion}.tgz`);
  if (options.fetch !== true && !existsSync(tarball))
    return { absent: `openclaw@${openClawVersion} is not in ${cache}. Run: npm run test:parity` };
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'unpacking-'));
  try {
    if (!existsSync(tarball)) await download(scratch, tarball);
    await verify(tarball, tarballSha256);
    await run('tar', ['-xzf', tarball, '-C', scratch]);
    settle(join(scratch, 'package'), root);
    return { root };
  } catch (error) {
    return { absent: `openclaw@${openClawVersion} cannot be had: ${oneLine(error)}` };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function download(scratch: string, tarball: string): Promise<void> {
  await npm(['pack', `openclaw@${openClawVersion}`, '--pack-destination', scratch], scratch);
  const fetched = join(scratch, `openclaw-${openClawVersion}.tgz`);
  await verify(fetched, tarballSha256);
  renameSync(fetched, tarball);
}

/** A tarball that is not the one is removed, so that the next run can fetch it. */
export async function verify(tarball: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(tarball), hash);
  const found = hash.digest('hex');
  if (found === sha256) return;
  rmSync(tarball, { force: true });
  throw new Error(`its tarball has the sha256 ${found}, expected ${sha256}`);
}

/** Puts a whole folder in its place, or leaves the one that another process has put there. */
function settle(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
