import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClawPackage } from '../support/openclaw-package.js';

/** Fetches the package once, before any suite. Without it the suites skip; in CI that is a failure. */
export default async function setup(): Promise<() => void> {
  const scratch = join(tmpdir(), `sluice-parity-${process.pid}`);
  mkdirSync(join(scratch, 'state'), { recursive: true });
  const { absent } = await openClawPackage({ fetch: true });
  if (absent !== undefined) console.warn(`The parity suites are skipped. ${absent}`);
  return () => rmSync(scratch, { recursive: true, force: true });
}
