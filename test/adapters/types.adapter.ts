import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { readProjectFile, root } from '../support/source-tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { installFrameworks, pathsOf } from './frameworks.js';

it('the adapters, their tests and their examples fit the types of the real frameworks', async () => {
  const { compilerOptions } = JSON.parse(readProjectFile('tsconfig.json'));
  const own = Object.entries<string[]>(compilerOptions.paths).map(([name, [file = '']]) => [
    name,
    [join(root, file)],
  ]);
  using folder = temporaryFolder();
  const config = {
    compilerOptions: {
      ...compilerOptions,
      typeRoots: [join(root, 'node_modules/@types')],
      paths: { ...Object.fromEntries(own), ...pathsOf(await installFrameworks()) },
    },
    include: [
      join(root, 'src/sdk/extension/named/registration.ts'),
      join(root, 'test/adapters/**/*.ts'),
      join(root, 'docs/examples/adapter-*.ts'),
    ],
  };
  folder.write('tsconfig.json', JSON.stringify(config));
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder.path, '--checkers', '1'],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('');
  expect(status).toBe(0);
});
