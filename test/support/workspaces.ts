import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from './source-tree.js';

/** A `package.json` of this repository. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | { readonly types: string }>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** @param folder from the root. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest; // our own files
}

/** The packages below `src`, by their folders from the root. */
export const workspaces: ReadonlyMap<string, Manifest> = new Map(
  readdirSync(join(root, 'src'))
    .map((name) => `src/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => [folder, manifestOf(folder)]),
);

/** The source of each module that a package below `src` exports, by the name that others import it by. */
export const sourcesByName: ReadonlyMap<string, string> = new Map(
  [...workspaces].flatMap(([folder, { name, exports = {} }]) =>
    Object.entries(exports)
      .filter(([path]) => path !== './package.json')
      .map(([path, file]) => [posix.join(name, path), posix.join(folder, sourceOf(file))]),
  ),
);

/** The kernel exports what its build makes, and the other packages their sources. */
function sourceOf(file: string | { readonly types: string }): string {
  return typeof file === 'string' ? file : file.types.replace('dist/', '').replace('.d.ts', '.ts');
}
