import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that package.json is in. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A file of the project, by its path from the root with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const ignored = new Set(['node_modules', 'dist', 'coverage']);

/** The TypeScript files below some folders, in the order of their paths. */
export function sourceFiles(...folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => filesBelow(join(root, folder)))
    .filter((path) => /\.[cm]?ts$/.test(path))
    .map((path) => ({ path: projectPath(path), text: readFileSync(path, 'utf8') }))
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** The text of a file of the project. */
export function readProjectFile(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function projectPath(path: string): string {
  return relative(root, path).split(sep).join('/');
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (ignored.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}
