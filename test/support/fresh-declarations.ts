import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { finishDeclarations } from './finish-declarations.js';
import type { SourceFile } from './source-tree.js';
import { root, sourceFiles } from './source-tree.js';
import { temporaryFolder } from './temporary-folder.js';

/**
 * The declarations of the core and of the kernel, as users get them: those of the build, or if a source is newer than they
 * are, those that `npm run build` would write now. Those of the kernel are below `kernel/`.
 */
export function freshDeclarations(): SourceFile[] {
  const kernel = join(root, 'src/kernel/dist');
  if (isFresh()) return declarationsIn(join(root, 'dist'), kernel);
  using folder = temporaryFolder();
  const [dist, kernelDist] = [join(folder.path, 'dist'), join(folder.path, 'kernel')];
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['-p', 'tsconfig.build.json', '--outDir', dist];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...options], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The compiler writes no declarations: ${stdout}`);
  finishDeclarations(dist, kernelDist);
  return declarationsIn(dist, kernelDist);
}

function isFresh(): boolean {
  const built = statSync(join(root, 'dist/index.d.ts'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sourceFiles('src').every(({ path }) => statSync(join(root, path)).mtimeMs <= built);
}

function declarationsIn(dist: string, kernelDist: string): SourceFile[] {
  const read = (folder: string, prefix: string) =>
    filesIn(folder)
      .filter((path) => path.endsWith('.d.ts'))
      .map((path) => ({ path: prefix + path, text: readFileSync(join(folder, path), 'utf8') }));
  return [...read(dist, ''), ...read(kernelDist, 'kernel/')];
}

/** The TypeScript files below a folder, by their paths from it with forward slashes. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'));
}
