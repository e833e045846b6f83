import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKernel, isSluiceError } from '../../../src/kernel/internal.js';
import { type LegacyPlugin, loadLegacyPluginFrom } from '../../../src/openclaw/index.js';

/** Node's own `import()`: the one in this file is the test runner's, which calls no hooks. */
const importModule = compileFunction('return import(specifier)', ['specifier'], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (specifier: string) => Promise<unknown>;

let from = '';

beforeAll(() => {
  from = mkdtempSync(join(tmpdir(), 'sluice-sdk-'));
});

afterAll(() => rmSync(from, { recursive: true }));

/** Writes a folder of files. */
function write(name: string, files: Readonly<Record<string, string>>): string {
  for (const [file, text] of Object.entries(files)) {
    const path = join(from, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(from, name);
}

/** Writes a plugin. */
function plugin(name: string, files: Readonly<Record<string, string>>): string {
  return write(name, {
    'openclaw.plugin.json': JSON.stringify({ id: name, configSchema: {} }),
    ...files,
  });
}

/** Writes an openclaw with the exports that are given. */
function openclaw(name: string, version: string, files: Readonly<Record<string, string>>): string {
  const exports = Object.fromEntries(
    Object.keys(files).map((file) => [
      `./plugin-sdk${file === 'index' ? '' : `/${file}`}`,
      `./${file}.js`,
    ]),
  );
  const manifest = { name: 'openclaw', version, type: 'module', exports };
  const modules = Object.entries(files).map(([file, text]) => [`${file}.js`, text]);
  return write(name, { 'package.json': JSON.stringify(manifest), ...Object.fromEntries(modules) });
}

const load = (
  path: string,
  options: Partial<Parameters<typeof loadLegacyPluginFrom>[1]> = {},
): Promise<LegacyPlugin> =>
  loadLegacyPluginFrom(path, { kernel: createKernel(), from, importModule, ...options });

const refused = async (...args: Parameters<typeof load>): Promise<string> => {
  const error: unknown = await load(...args).then(
    (loaded) => loaded.error,
    (thrown: unknown) => thrown,
  );
  if (!isSluiceError(error)) throw new Error(`no error of Sluice: ${String(error)}`);
  return `${error.code}: ${error.message}`;
};

describe('imports of openclaw/plugin-sdk (event-pipeline §17.13)', () => {
  it('are served by what Sluice has of it, if there is no openclaw: each subpath, and files that are imported by path', async () => {
    const path = plugin('own', {
      'index.ts': `import { definePluginEntry } from 'openclaw/plugin-sdk/plugin-entry';
        import { answer } from './tool';
        export default definePluginEntry({
          id: 'own', name: answer(), description: 'd', register(api: any) { api.on('message_sent', () => {}); },
        });`,
      'tool.ts': `import { jsonResult } from 'openclaw/plugin-sdk';
        export const answer = (): string => jsonResult({ a: 1 }).content[0].text;`,
    });
    const loaded = await load(path);
    expect(loaded).toMatchObject({
      status: 'loaded',
      name: '{\n  "a": 1\n}',
      sdk: { from: 'own' },
    });
    expect(loaded.hooks).toMatchObject([{ hookName: 'message_sent' }]);
  });

  it('are served by the openclaw beside the plugin, and its version is told', async () => {
    const path = plugin('beside', {
      'index.mjs': `import { named } from 'openclaw/plugin-sdk';
        export default { name: named, register() {} };`,
    });
    const beside = openclaw('beside/node_modules/openclaw', '2026.3.13', {
      index: `export const named = 'of openclaw';`,
    });
    expect(await load(path)).toMatchObject({
      name: 'of openclaw',
      sdk: { from: 'beside', path: beside, version: '2026.3.13' },
    });
  });

  it('are served by the openclaw that the operator names, before the one beside the plugin', async () => {
    const path = plugin('chosen', {
      'index.mjs': `import { named } from 'openclaw/plugin-sdk';
        export default { name: named, register() {} };`,
    });
    openclaw('chosen/node_modules/openclaw', '2026.3.13', { index: `export const named = 'no';` });
    const named = openclaw('apart', '2026.4.1', { index: `export const named = 'of the named';` });
    expect(await load(path, { openclaw: 'apart' })).toMatchObject({
      name: 'of the named',
      sdk: { from: 'named', path: named, version: '2026.4.1' },
    });
    const wrong = await load(path, { openclaw: 'chosen' }).catch((error: unknown) => error);
    expect(wrong).toMatchObject({ code: 'openclaw-not-found' });
    expect(wrong).toHaveProperty('message', expect.stringMatching(/openclaw in .*chosen\.$/));
  });

  it('of a subpath that the openclaw lacks are served by Sluice', async () => {
    const path = plugin('newer', {
      'index.mjs': `import { definePluginEntry } from 'openclaw/plugin-sdk/plugin-entry';
        import { old } from 'openclaw/plugin-sdk';
        export default definePluginEntry({ id: 'newer', name: old, register() {} });`,
    });
    openclaw('newer/node_modules/openclaw', '2026.3.13', { index: `export const old = 'both';` });
    expect(await load(path)).toMatchObject({ name: 'both', status: 'loaded' });
  });

  it('D6: of a name that nobody has are refused with the file, its line, the subpath and the version', async () => {
    const text = `export {};
      import { neverThere } from 'openclaw/plugin-sdk/core';
      export default () => neverThere;`;
    const path = plugin('nobody', { 'index.mjs': text });
    expect(await refused(path)).toMatch(
      /^plugin-needs-sdk: nobody: .*nobody.index\.mjs:2 imports "openclaw\/plugin-sdk\/core" when it runs, and Sluice, which stands in for it, has no "neverThere"\.$/,
    );
    const other = plugin('nobody-2', { 'index.mjs': text });
    openclaw('apart-2', '2026.3.13', { index: '' });
    expect(await refused(other, { openclaw: 'apart-2' })).toMatch(
      /neither openclaw@2026\.3\.13 of .*apart-2 nor Sluice has "neverThere" there/,
    );
  });

  it('by require, of a CommonJS plugin, are served alike', async () => {
    const own = plugin('required', {
      'package.json': '{"type":"commonjs"}',
      'index.js': `const sdk = require('openclaw/plugin-sdk/core');
        module.exports = sdk.definePluginEntry({ id: 'required', name: require('./name').name, register() {} });`,
      'name.js': `exports.name = require('openclaw/plugin-sdk').DEFAULT_ACCOUNT_ID;`,
    });
    expect(await load(own)).toMatchObject({ name: 'default', status: 'loaded' });
    const named = plugin('required-2', {
      'index.cjs': `module.exports = { name: require('openclaw/plugin-sdk').named, register() {} };`,
    });
    openclaw('apart-3', '2026.3.13', { index: `export const named = 'of the named';` });
    expect(await load(named, { openclaw: 'apart-3' })).toMatchObject({ name: 'of the named' });
  });

  it('by require, of a name that nobody has are refused when the plugin asks for it', async () => {
    const atOnce = plugin('asks', {
      'index.cjs': `require('openclaw/plugin-sdk').neverThere();`,
    });
    expect(await refused(atOnce)).toMatch(
      /^plugin-needs-sdk: asks: .*index\.cjs imports .*"neverThere"/,
    );
    const later = plugin('asks-later', {
      'index.cjs': `const sdk = require('openclaw/plugin-sdk'); module.exports = () => sdk.neverThere();`,
    });
    expect(await refused(later)).toMatch(/^plugin-needs-sdk: asks-later: .*"neverThere"/);
  });

  it('by a plugin that asks for another version than there is, are served with a warning', async () => {
    const path = plugin('older', {
      'package.json': '{"peerDependencies":{"openclaw":">=2026.9.0"}}',
      'index.mjs': 'export default () => undefined;',
    });
    const apart = openclaw('apart-4', '2026.3.13', { index: '' });
    expect((await load(path, { openclaw: apart })).diagnostics).toEqual([
      {
        level: 'warn',
        message: `it asks for openclaw >=2026.9.0, and openclaw@2026.3.13 is in ${apart}`,
      },
    ]);
    expect((await load(path)).diagnostics).toEqual([]);
  });
});

describe('the modules of a plugin (event-pipeline §17.14)', () => {
  it('have require, __filename and __dirname, as of the loader that they were written for', async () => {
    const path = plugin('bundle', {
      'index.mjs': `const __require = typeof require !== 'undefined' ? require : (x) => {
          throw Error('Dynamic require of "' + x + '" is not supported');
        };
        const { basename } = __require('node:path');
        export default { name: basename(__dirname) + '/' + basename(__filename), register() {} };`,
    });
    expect((await load(path)).name).toBe('bundle/index.mjs');
  });

  it('that have a require of their own keep it', async () => {
    const path = plugin('keeps', {
      'index.ts': `import { createRequire } from 'node:module';
        const require = createRequire(import.meta.url);
        export default { name: require('./name.json').name as string, register() {} };`,
      'name.json': '{"name":"kept"}',
    });
    expect((await load(path)).name).toBe('kept');
  });

  it('are found without their endings, and in a folder by its index', async () => {
    const path = plugin('endings', {
      'index.mjs': `import { a } from './a'; import { b } from './b'; export default { name: a + b, register() {} };`,
      'a.ts': 'enum Kind { A = "a" }\nexport const a: string = Kind.A;',
      'b/index.js': 'export const b = "b";',
      'package.json': '{"type":"module"}',
    });
    expect((await load(path)).name).toBe('ab');
  });

  it('D5: are those of an installed package by its name, built or not', async () => {
    plugin('node_modules/@acme/built', {
      'openclaw.plugin.json': '{"id":"built","configSchema":{}}',
      'package.json':
        '{"name":"@acme/built","openclaw":{"extensions":["./index.ts"],"runtimeExtensions":["./dist/index.mjs"]}}',
      'dist/index.mjs': `export default { name: 'built', register() {} };`,
    });
    expect((await load('@acme/built')).name).toBe('built');
    expect(await refused('@acme/other')).toMatch(/^plugin-not-found: .*"@acme\/other"/);
  });
});

describe('what Sluice has of openclaw/plugin-sdk (event-pipeline §17.13)', () => {
  const named = async (name: string, code: string): Promise<unknown> => {
    const path = plugin(name, {
      'index.mjs': `import * as sdk from 'openclaw/plugin-sdk/core';
        export default { register(api) { api.on('message_sent', () => {}); globalThis.sluiceTold = (${code})(sdk, api); } };`,
    });
    const { error } = await load(path);
    if (error !== undefined) throw error;
    return (globalThis as { sluiceTold?: unknown }).sluiceTold;
  };

  it('reads the parameters of a tool', async () => {
    expect(
      await named(
        'reads',
        `({ readStringParam: text, readNumberParam: number, readStringArrayParam: texts }) => {
          const given = { a: ' x ', n: '4.7', l: ['p', 3, ' q '], none: ' ' };
          const thrown = (run) => { try { return run(); } catch (error) { return error.message; } };
          return [
            text(given, 'a'), text(given, 'a', { trim: false }), text(given, 'none'), text(given, 'none', { allowEmpty: true }),
            number(given, 'n'), number(given, 'n', { integer: true }), texts(given, 'l'), texts(given, 'a'), texts(given, 'z'),
            thrown(() => text(given, 'z', { required: true, label: 'zeal' })),
          ];
        }`,
      ),
    ).toEqual(['x', ' x ', undefined, '', 4.7, 4, ['p', 'q'], ['x'], undefined, 'zeal required']);
  });

  it('judges an empty configuration, keeps a runtime, and names accounts', async () => {
    expect(
      await named(
        'judges',
        `(sdk) => {
          const { safeParse } = sdk.emptyPluginConfigSchema();
          const store = sdk.createPluginRuntimeStore('not set');
          let missing; try { store.getRuntime(); } catch (error) { missing = error.message; }
          store.setRuntime(7);
          return [
            [undefined, {}, { a: 1 }, []].map((value) => safeParse(value).success),
            missing, store.getRuntime(), store.tryGetRuntime(),
            sdk.normalizeAccountId(' Work Mail '), sdk.normalizeAccountId(''), sdk.textResult('t', 1), sdk.stringEnum(['a']),
          ];
        }`,
      ),
    ).toEqual([
      [true, true, false, false],
      'not set',
      7,
      7,
      'work-mail',
      'default',
      { content: [{ type: 'text', text: 't' }], details: 1 },
      { type: 'string', enum: ['a'] },
    ]);
  });

  it('registers a channel by its entry', async () => {
    const path = plugin('pigeon', {
      'index.mjs': `import { defineChannelPluginEntry } from 'openclaw/plugin-sdk/channel-core';
        export default defineChannelPluginEntry({
          id: 'pigeon', name: 'Pigeon', description: 'd',
          plugin: { id: 'pigeon', outbound: { sendText: async () => ({ messageId: '1' }) } },
          registerFull: (api) => api.on('message_sent', () => {}),
        });`,
    });
    const { channels, hooks } = await load(path);
    expect(channels).toMatchObject([{ id: 'pigeon' }]);
    expect(hooks).toMatchObject([{ hookName: 'message_sent' }]);
  });
});
