import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A file of each bundle. */
const bundles = ['dist/index.js', 'src/kernel/dist/index.js'];

/** The folders of source that `npm run build` compiles, and the folders that it writes. */
const folders = [
  { from: 'extensions/telegram/src', to: 'extensions/telegram/dist' },
  { from: 'extensions/slack/src', to: 'extensions/slack/dist' },
  { from: 'extensions/http/src', to: 'extensions/http/dist' },
  { from: 'extensions/policies/src', to: 'extensions/policies/dist' },
  { from: 'extensions/judge/src', to: 'extensions/judge/dist' },
  { from: 'extensions/guard/src', to: 'extensions/guard/dist' },
  { from: 'extensions/budget/src', to: 'extensions/budget/dist' },
  { from: 'extensions/postgres/src', to: 'extensions/postgres/dist' },
  { from: 'extensions/thread-ownership/src', to: 'extensions/thread-ownership/dist' },
  { from: 'extensions/inspector/src', to: 'extensions/inspector/dist' },
];

/**
 * Makes `dist` anew if a source is newer, so that a test can start the command line as it is published: the bundles of the
 * kernel and of `sluice`, and each file of an extension. Only `npm run build` writes declarations.
 */
export default async function freshDist(): Promise<void> {
  const bundled = Math.min(...bundles.map((file) => changedMs(join(root, file))));
  if (sourcesIn(join(root, 'src')).some((file) => changedMs(file) > bundled)) {
    for (const folder of ['dist', 'src/kernel/dist'])
      rmSync(join(root, folder, 'chunks'), { recursive: true, force: true });
    execFileSync('npm', ['run', '--silent', 'bundle'], { cwd: root, stdio: 'ignore' });
  }
  for (const { from, to } of folders) {
    const source = join(root, from);
    const output = join(root, to);
    const stale = sourcesIn(source).filter(
      (file) => changedMs(file) > changedMs(outputOf(file, source, output)),
    );
    if (stale.length === 0) continue;
    await build({
      entryPoints: stale,
      outbase: source,
      outdir: output,
      format: 'esm',
      target: 'es2023',
      platform: 'node',
    });
  }
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.d)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function outputOf(file: string, source: string, output: string): string {
  return join(output, dirname(relative(source, file)), `${basename(file, '.ts')}.js`);
}

/** Milliseconds since 1970; 0 if there is no such file. */
function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
