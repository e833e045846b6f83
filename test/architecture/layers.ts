import type { SourceFile } from '../support/source-tree.js';
import { manifestOf, workspaces } from '../support/workspaces.js';
import { type Import, importsOf, targetOf } from './imports.js';

/**
 * The layers, lowest first: the packages below `src`, and the parts of one that others import alone. Layers of one row are
 * siblings: they do not import each other.
 */
export const layers = [
  ['kernel'],
  ['sdk/extension'],
  ['sdk/stream'],
  ['sdk/channel'],
  ['sdk/chat'],
  ['agent/run', 'journal'],
  ['agent'],
  ['host'],
  ['testing', 'cli'],
  ['openclaw/gateway', 'claude', 'postgres'],
  ['openclaw'],
] as const satisfies readonly (readonly string[])[];

const named: readonly string[] = layers.flat().toSorted((one, other) => other.length - one.length);

/** The files loose in src are the author's surface: above every layer, and imported by none. */
const entry = /^src\/[^/]+$/;

/** The layer that a file of src lies in, if there is one. */
export function layerOf(path: string): string | undefined {
  return named.find((layer) => path.startsWith(`src/${layer}/`));
}

/** The folder of the package that a file of src belongs to: `.` for the files loose in it. */
function packageFolderOf(path: string): string {
  return entry.test(path) ? '.' : path.split('/').slice(0, 2).join('/');
}

/** The problems of the imports of one file of src, in a sentence each. */
export function wrongImports(file: SourceFile): string[] {
  return importsOf(file).flatMap((one) => {
    const problem = judge(file.path, one);
    return problem === undefined ? [] : [`${file.path}:${one.line} ${problem}`];
  });
}

function judge(path: string, { specifier }: Import): string | undefined {
  const from = entry.test(path) ? layers.length : rowOf(path);
  if (from < 0) return 'lies in a folder that has no layer';
  if (specifier === '<computed>')
    return path.startsWith('src/kernel/') ? 'imports a module that it computes' : undefined;
  const target = targetOf(path, specifier);
  const isByName = !specifier.startsWith('.');
  if (isByName && /^sluice(\/|$)/.test(specifier))
    return `imports "${specifier}", this package, by name`;
  const isOwn = target !== undefined && packageFolderOf(target) === packageFolderOf(path);
  if (isByName && isOwn) return `imports "${specifier}", its own package, by name`;
  if (isByName && !specifier.startsWith('node:') && !declares(path, packageOf(specifier)))
    return `imports "${specifier}", which its package.json does not declare`;
  if (target === undefined)
    return path.startsWith('src/kernel/')
      ? `imports "${specifier}"; the kernel imports itself alone`
      : /^(@sluice|sluice-kernel)\//.test(specifier)
        ? `imports "${specifier}", which that package does not export`
        : undefined;
  if (!target.startsWith('src/')) return `imports ${target}, which lies outside of src`;
  if (entry.test(target))
    return entry.test(path) ? undefined : `imports ${target}, which is for authors`;
  if (!isByName && !isOwn) return `imports ${target} by its path: import that package by its name`;
  if (layerOf(target) === layerOf(path)) return undefined;
  const to = rowOf(target);
  if (to < 0) return `imports ${target}, which has no layer`;
  if (to === from) return `imports its sibling ${target}`;
  return to > from ? `imports ${target}, which lies above it` : undefined;
}

function declares(path: string, name: string): boolean {
  const folder = packageFolderOf(path);
  const manifest = workspaces.get(folder) ?? manifestOf('.');
  const { dependencies, peerDependencies, devDependencies } = manifest;
  const all = { ...dependencies, ...peerDependencies, ...(folder === '.' ? devDependencies : {}) };
  return name in all;
}

/** The problems of the imports of one file of an extension. */
export function wrongExtensionImports(file: SourceFile, packages: readonly string[]): string[] {
  const home = /^extensions\/[^/]+\//.exec(file.path)?.[0] ?? '';
  return importsOf(file).flatMap(({ specifier, line }) => {
    const isAllowed = specifier.startsWith('.')
      ? home !== '' && targetOf(file.path, specifier)?.startsWith(home)
      : specifier.startsWith('node:') || packages.includes(packageOf(specifier));
    return isAllowed ? [] : [`${file.path}:${line} imports "${specifier}"`];
  });
}

/** The package that an import by name means. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function rowOf(path: string): number {
  const layer = layerOf(path);
  return layers.findIndex((row: readonly string[]) => layer !== undefined && row.includes(layer));
}
