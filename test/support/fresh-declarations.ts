import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describeDeclarations } from './described-declarations.js';
import type { SourceFile } from './source-tree.js';
import { root } from './source-tree.js';
import { temporaryFolder } from './temporary-folder.js';

/**
 * The declarations of the core, as users get them: those in `dist`, or if a source is newer than its declarations, those
 * that `npm run build` would write now.
 */
export function freshDeclarations(): SourceFile[] {
  const dist = join(root, 'dist');
  if (isFresh(dist)) return declarationsIn(dist);
  using folder = temporaryFolder();
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', folder.path];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...options], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The compiler writes no declarations: ${stdout}`);
  describeDeclarations(folder.path);
  return declarationsIn(folder.path);
}

function isFresh(dist: string): boolean {
  return filesIn(join(root, 'src')).every((path) => {
    const declarations = join(dist, path.replace(/ts$/, 'd.ts'));
    return (
      existsSync(declarations) &&
      statSync(declarations).mtimeMs >= statSync(join(root, 'src', path)).mtimeMs
    );
  });
}

function declarationsIn(folder: string): SourceFile[] {
  return filesIn(folder)
    .filter((path) => path.endsWith('.d.ts') && !path.startsWith('extensions/'))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

/** The TypeScript files below a folder, by their paths from it with forward slashes. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'));
}
