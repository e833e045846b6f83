import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction, constants } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExtensionModule } from '../../../src/sdk/extension/index.js';

/** Node's own `import()`: the one in this file is the test runner's, which also takes TypeScript. */
const importModule = compileFunction('return import(specifier)', ['specifier'], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (specifier: string) => Promise<unknown>;

const extension = "{ kind: 'sluice-extension', id: 'acme', config: undefined, setup() {} }";

const files = {
  'default.mjs': `export default ${extension};`,
  'named.mjs': `export const extension = ${extension};`,
  'none.mjs': 'export const plugin = 1;',
  'wrong.mjs': 'export default { id: 1, setup() {} };',
  'throws.mjs': "throw new Error('no database');",
  'needs.mjs': "import 'not-installed';",
  'dep.ts': 'export enum Kind { A = "acme" }',
  'typed.ts': `import { Kind } from './dep.js';\nconst id: string = Kind.A;\nexport default { ...${extension}, id };`,
  'names.json': '{ "id": "acme" }',
  'json.ts': `import names from './names.json' with { type: 'json' };\nexport default { ...${extension}, id: names.id };`,
  'syntax.ts': 'export default {',
  'node_modules/acme/package.json': '{"name":"acme","type":"module","exports":"./main.js"}',
  'node_modules/unbuilt/package.json': '{"name":"unbuilt","exports":"./dist/index.js"}',
  'node_modules/acme/main.js': `export default ${extension};`,
};

let from = '';

beforeAll(() => {
  from = mkdtempSync(join(tmpdir(), 'sluice-modules-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(from, name)), { recursive: true });
    writeFileSync(join(from, name), text);
  }
});

afterAll(() => rmSync(from, { recursive: true }));

const load = (specifier: string) => loadExtensionModule(specifier, { from, importModule });

describe('loadExtensionModule (§13)', () => {
  it.each(['./default.mjs', './named.mjs', 'acme'])(
    'takes the extension of %s',
    async (specifier) => {
      expect((await load(specifier)).id).toBe('acme');
    },
  );

  it('takes a file URL and an absolute path', async () => {
    const path = join(from, 'default.mjs');
    expect((await load(path)).id).toBe('acme');
    expect((await load(pathToFileURL(path).href)).id).toBe('acme');
  });

  it.each([
    [
      './missing.mjs',
      'module-not-found',
      /"\.\/missing\.mjs" was not found: there is no .*missing\.mjs/,
    ],
    ['./node_modules', 'module-not-found', /is not a file; name the file in it/],
    [`./${'x'.repeat(300)}.mjs`, 'module-not-found', /was not found: .*ENAMETOOLONG/],
    [
      'not-installed',
      'module-not-found',
      /"not-installed" was not found: no such package is installed/,
    ],
    ['not-installed/part', 'module-not-found', /no such package is installed/],
    [
      'unbuilt',
      'module-not-found',
      /it is installed, and its file .*index\.js is not there: build it/,
    ],
    ['./none.mjs', 'no-extension', /none\.mjs exports no extension: it exports plugin/],
    [
      './wrong.mjs',
      'no-extension',
      /its export "default" is none: defineExtension did not make it/,
    ],
    ['./throws.mjs', 'module-failed', /throws\.mjs could not be imported: no database/],
    ['./needs.mjs', 'module-failed', /needs\.mjs could not be imported: .*'not-installed'/],
    [
      './syntax.ts',
      'module-failed',
      /syntax\.ts could not be imported: .*Expected identifier but found end of file \(line 1\)/,
    ],
  ])('refuses %s with %s', async (specifier, code, message) => {
    const refused = await load(specifier).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'SluiceError', code });
    expect(refused).toHaveProperty('message', expect.stringMatching(message));
  });

  it('compiles TypeScript, enums and `.js` imports of it included, in a folder that says nothing of modules (§13.7)', async () => {
    expect((await load('./typed.ts')).id).toBe('acme');
  });

  it('imports JSON into TypeScript (§13.7)', async () => {
    expect((await load('./json.ts')).id).toBe('acme');
  });

  it('reads a new version with what it imports by path, of TypeScript and of JavaScript (§13.7)', async () => {
    for (const [name, first, second] of [
      ['versions.ts', "export const id: string = 'one';", "export const id: string = 'two';"],
      ['versions.mjs', "export const id = 'one';", "export const id = 'two';"],
    ] as const) {
      const suffix = name.slice('versions'.length);
      const imported = `part${suffix.replace('ts', 'js')}`;
      writeFileSync(join(from, `part${suffix}`), first);
      writeFileSync(
        join(from, name),
        `import { id } from './${imported}';\nexport default { ...${extension}, id };`,
      );
      expect((await load(`./${name}`)).id).toBe('one');
      writeFileSync(join(from, `part${suffix}`), second);
      expect((await load(`./${name}`)).id).toBe('one');
      const options = { from, importModule, version: Number(process.hrtime.bigint()) };
      expect((await loadExtensionModule(`./${name}`, options)).id).toBe('two');
    }
  });
});
