import { posix } from 'node:path';
import type { SourceFile } from '../support/source-tree.js';
import { type ImportGraph, importsOf, targetOf } from './imports.js';
import { layerOf } from './layers.js';

/** The number of files that may lie loose in one folder. */
export const looseFilesAtMost = 16;

/**
 * The rooms of some files of src, and the rooms of the same layer that each of them imports. A room is a folder. The entry
 * points of a layer are a room of their own: they lie above all others.
 */
export function roomGraph(files: readonly SourceFile[]): ImportGraph {
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const here = roomOf(file.path);
    if (here === undefined) continue;
    const imported = graph.get(here) ?? new Set();
    graph.set(here, imported);
    for (const { specifier } of importsOf(file)) {
      const target = targetOf(file.path, specifier);
      const there = target === undefined ? undefined : roomOf(target);
      if (target === undefined || there === undefined || there === here) continue;
      if (layerOf(target) === layerOf(file.path)) imported.add(there);
    }
  }
  return new Map([...graph].map(([room, imported]) => [room, [...imported]]));
}

/** The folders with more loose files than allowed, in a sentence each. */
export function crowdedFolders(paths: readonly string[], atMost = looseFilesAtMost): string[] {
  const loose = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    loose.set(folder, (loose.get(folder) ?? 0) + 1);
  }
  return [...loose].flatMap(([folder, count]) =>
    count > atMost ? [`${folder} has ${count} loose files; give it rooms (at most ${atMost})`] : [],
  );
}

/** A file's room, or nothing for a file outside of the layers. */
function roomOf(path: string): string | undefined {
  const layer = layerOf(path);
  if (layer === undefined) return undefined;
  const folder = posix.dirname(path);
  const entry = folder === `src/${layer}` ? entries[posix.basename(path)] : undefined;
  return entry === undefined ? folder : `${folder} (${entry})`;
}

/** The entry points of a layer: its names for all, and above them those for other packages, with what it adds to the command line. */
const entries: Readonly<Record<string, string>> = {
  'index.ts': 'index',
  'core.ts': 'index',
  'names.ts': 'index',
  'schemas.ts': 'index',
  'deprecated.ts': 'index',
  'internal.ts': 'internal',
  'addition.ts': 'internal',
};
