import type { SourceFile } from '../support/source-tree.js';
import { type Import, importsOf, targetOf } from './imports.js';

/** The folders of src, lowest first. Folders of one row are siblings: they do not import each other. */
export const layers = [
  ['kernel'],
  ['extension'],
  ['stream'],
  ['run'],
  ['legacy', 'csdk', 'gateway', 'channel'],
  ['chat'],
  ['agent'],
  ['host'],
  ['testing', 'cli'],
] as const satisfies readonly (readonly string[])[];

/** The files loose in src are the author's surface: above every layer, and imported by none. */
const entry = /^src\/[^/]+$/;

/** What is wrong with the imports of one file of src, in a sentence each. */
export function wrongImports(file: SourceFile): string[] {
  return importsOf(file).flatMap((one) => {
    const problem = judge(file.path, one);
    return problem === undefined ? [] : [`${file.path}:${one.line} ${problem}`];
  });
}

function judge(path: string, { specifier }: Import): string | undefined {
  const from = entry.test(path) ? layers.length : layerOf(path);
  if (from < 0) return 'lies in a folder that has no layer';
  if (specifier === '<computed>')
    return path.startsWith('src/kernel/') ? 'imports a module that it computes' : undefined;
  const target = targetOf(path, specifier);
  if (target === undefined) return judgePackage(path, specifier);
  if (!target.startsWith('src/')) return `imports ${target}, which lies outside of src`;
  if (entry.test(target))
    return entry.test(path) ? undefined : `imports ${target}, which is for authors`;
  if (folderOf(target) === folderOf(path)) return undefined;
  const to = layerOf(target);
  if (to < 0) return `imports ${target}, which has no layer`;
  if (to === from) return `imports its sibling ${target}`;
  return to > from ? `imports ${target}, which lies above it` : undefined;
}

function judgePackage(path: string, specifier: string): string | undefined {
  if (/^sluice(\/|$)/.test(specifier)) return `imports "${specifier}", this package, by name`;
  if (!path.startsWith('src/kernel/')) return undefined;
  return /^typebox(\/|$)/.test(specifier)
    ? undefined
    : `imports "${specifier}"; the kernel imports typebox and itself`;
}

/** What is wrong with the imports of one file of an extension. */
export function wrongExtensionImports(file: SourceFile, packages: readonly string[]): string[] {
  const home = /^extensions\/[^/]+\//.exec(file.path)?.[0] ?? '';
  return importsOf(file).flatMap(({ specifier, line }) => {
    const target = targetOf(file.path, specifier);
    const allowed =
      target === undefined
        ? specifier.startsWith('node:') || packages.includes(packageOf(specifier))
        : home !== '' && target.startsWith(home);
    return allowed ? [] : [`${file.path}:${line} imports "${specifier}"`];
  });
}

/** The package that an import by name means. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function layerOf(path: string): number {
  return layers.findIndex((row: readonly string[]) => row.includes(folderOf(path)));
}
