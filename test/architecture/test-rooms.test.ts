import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../support/source-tree.js';
import { workspaces } from '../support/workspaces.js';
import { crowdedFolders } from './rooms.js';

const paths = [...workspaces.keys()]
  .map((folder) => folder.replace('src/', 'test/'))
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => sourceFiles(folder))
  .map(({ path }) => path)
  .filter((path) => !path.includes('/fixtures/') && !isOfSuite(posix.dirname(path)));

/** A suite of its own, of the real thing, has rooms of its own. */
function isOfSuite(folder: string): boolean {
  return (
    existsSync(join(root, folder, 'vitest.config.ts')) ||
    (folder.includes('/') && isOfSuite(posix.dirname(folder)))
  );
}

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
