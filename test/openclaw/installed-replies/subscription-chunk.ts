import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installOpenClaw } from '../../support/openclaw-install.js';
import { openClawVersion } from '../../support/openclaw-package.js';

/** The file that holds the real session subscription, or why it is not there. */
export type SubscriptionChunk =
  | { readonly chunk: string; readonly absent?: undefined }
  | { readonly chunk?: undefined; readonly absent: string };

/** Installs the real package and finds the file that holds its session subscription. */
export async function subscriptionChunk(): Promise<SubscriptionChunk> {
  try {
    return { chunk: chunkIn(join(await installOpenClaw(), 'dist')) };
  } catch (error) {
    const line = String(error).split('\n', 1)[0];
    return { absent: `openclaw@${openClawVersion} cannot be installed: ${line}` };
  }
}

/** The file's name holds a hash: it is found by what it declares. */
function chunkIn(dist: string): string {
  for (const name of readdirSync(dist).toSorted()) {
    if (!/^reply-.*\.js$/.test(name)) continue;
    const path = join(dist, name);
    if (/^function subscribeEmbeddedPiSession\(/m.test(readFileSync(path, 'utf8'))) return path;
  }
  throw new Error('no file of the package declares subscribeEmbeddedPiSession');
}
