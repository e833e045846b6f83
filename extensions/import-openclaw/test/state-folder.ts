import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const state = fileURLToPath(new URL('state', import.meta.url));

/** A folder of the running test. */
export function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-import-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of the state folder `test/state`, in the shapes that the documentation of OpenClaw 2026.3.13 shows. */
export function stateFolder(config?: unknown): { readonly path: string; readonly out: string } {
  const folder = folderOfTest();
  const path = join(folder, 'openclaw');
  cpSync(state, path, { recursive: true });
  renameSync(join(path, 'openclaw.json5'), join(path, 'openclaw.json'));
  if (config !== undefined) writeFileSync(join(path, 'openclaw.json'), JSON.stringify(config));
  return { path, out: join(folder, 'host') };
}

/** A state folder with this config, and these files alone, as texts or as values of JSON. */
export function stateOf(
  config: unknown,
  files: Readonly<Record<string, unknown>> = {},
): { readonly path: string; readonly out: string } {
  const folder = folderOfTest();
  const path = join(folder, 'openclaw.json');
  for (const [file, value] of Object.entries({ ...files, 'openclaw.json': config })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), typeof value === 'string' ? value : JSON.stringify(value));
  }
  return { path, out: join(folder, 'host') };
}
