import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { circlesOf } from './imports.js';
import { crowdedFolders, roomGraph } from './rooms.js';

const src = sourceFiles('src');

describe('the rooms of each package', () => {
  it('import one way: no way leads from a room back to it', () => {
    expect(circlesOf(roomGraph(src))).toEqual([]);
  });

  it('have few loose files', () => {
    const files = [...src, ...sourceFiles('extensions')].map(({ path }) => path);
    expect(crowdedFolders(files.filter((path) => !path.includes('/test/')))).toEqual([]);
  });
});

describe('the rule of rooms', () => {
  const files = (...imports: readonly (readonly [path: string, specifier: string])[]) =>
    imports.map(([path, specifier]) => ({ path, text: `import type { A } from '${specifier}';` }));

  it('finds two rooms that import each other, by whatever files', () => {
    const graph = roomGraph(
      files(['src/host/turn/a.ts', '../egress/b.js'], ['src/host/egress/c.ts', '../turn/d.js']),
    );
    expect(circlesOf(graph)).toEqual(['src/host/turn -> src/host/egress -> src/host/turn']);
  });

  it('finds a room that imports the entry point of its layer', () => {
    const graph = roomGraph(
      files(['src/host/index.ts', './turn/a.js'], ['src/host/turn/a.ts', '../index.js']),
    );
    expect(circlesOf(graph)).toHaveLength(1);
  });

  it('leaves alone what is imported of other layers, and within a room', () => {
    const graph = roomGraph(
      files(
        ['src/host/turn/a.ts', '@sluice/journal'],
        ['src/host/turn/a.ts', './b.js'],
        ['src/index.ts', './host.js'],
      ),
    );
    expect([...graph]).toEqual([['src/host/turn', []]]);
  });

  it('names the folder that is crowded', () => {
    const paths = ['src/a/1.ts', 'src/a/2.ts', 'src/a/b/3.ts'];
    expect(crowdedFolders(paths, 1)).toEqual([
      'src/a has 2 loose files; give it rooms (at most 1)',
    ]);
  });
});
