import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../support/source-tree.js';
import { layers } from './layers.js';
import { crowdedFolders } from './rooms.js';

const paths = layers
  .flat()
  .map((layer) => `test/${layer}`)
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => sourceFiles(folder))
  .map(({ path }) => path)
  .filter((path) => !path.includes('/fixtures/'));

describe('the tests of a layer', () => {
  it('lie in rooms that have the names of its rooms in src', () => {
    const folders = [...new Set(paths.map((path) => posix.dirname(path)))];
    const strange = folders.filter(
      (folder) => !existsSync(join(root, folder.replace('test', 'src'))),
    );
    expect(strange.map((folder) => `${folder} mirrors no folder of src: move its files`)).toEqual(
      [],
    );
  });

  it('have few loose files', () => {
    expect(crowdedFolders(paths)).toEqual([]);
  });
});
