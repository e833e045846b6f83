import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.js';
import { crowdedFolders, rooms, wrongRoomImports } from './rooms.js';

const src = sourceFiles('src');

describe('the rooms of src', () => {
  it('import one way', () => {
    expect(src.flatMap(wrongRoomImports)).toEqual([]);
  });

  it('have few loose files', () => {
    const files = [...src, ...sourceFiles('extensions')].map(({ path }) => path);
    expect(crowdedFolders(files.filter((path) => !path.includes('/test/')))).toEqual([]);
  });

  it('are all there', () => {
    const folders = new Set(src.map(({ path }) => path.split('/').slice(1, -1).join('/')));
    const missing = Object.entries(rooms).flatMap(([layer, names]) =>
      names.filter((name) => !folders.has(name === '.' ? layer : `${layer}/${name}`)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the rule of rooms', () => {
  const said = (path: string, specifier: string): string =>
    wrongRoomImports({ path, text: `import type { A } from '${specifier}';` }).join('\n');

  it.each([
    ['src/journal/x.ts', '../egress/y.js', 'a room above'],
    ['src/host/turn/x.ts', '../index.js', 'a room above'],
    ['src/kernel/merge/x.ts', '../surface/kernel.js', 'a room above'],
    ['src/host/attic/x.ts', './y.js', 'does not list'],
  ])('refuses in %s an import of %s', (path, specifier, problem) => {
    expect(said(path, specifier)).toContain(problem);
  });

  it.each([
    ['src/host/egress/x.ts', '../journal/y.js'],
    ['src/host/egress/x.ts', './y.js'],
    ['src/host/index.ts', './life/host.js'],
    ['src/journal/x.ts', '../../kernel/index.js'],
    ['src/index.ts', './kernel/index.js'],
  ])('allows in %s an import of %s', (path, specifier) => {
    expect(said(path, specifier)).toBe('');
  });

  it('names the folder that is crowded', () => {
    const paths = ['src/a/1.ts', 'src/a/2.ts', 'src/a/b/3.ts'];
    expect(crowdedFolders(paths, 1)).toEqual([
      'src/a has 2 loose files; give it rooms (at most 1)',
    ]);
  });
});
