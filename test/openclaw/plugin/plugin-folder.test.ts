import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction, constants } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';
import { loadLegacyPluginFrom } from '../../../src/openclaw/index.js';
import { collectingLogger } from '../../../src/testing/index.js';

/** Node's own `import()`: the one in this file is the test runner's, which also takes TypeScript. */
const importModule = compileFunction('return import(specifier)', ['specifier'], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (specifier: string) => Promise<unknown>;

const fixtures = fileURLToPath(new URL('../../fixtures/legacy-plugins/', import.meta.url));
const manifest = (id: string) => JSON.stringify({ id, configSchema: { type: 'object' } });
const named = (name: string) => `export default { name: '${name}', register() {} };`;

const files = {
  'order/openclaw.plugin.json': manifest('order'),
  'order/index.mjs': named('mjs'),
  'order/index.cjs': 'module.exports = { name: "cjs", register() {} };',
  'commonjs/openclaw.plugin.json': manifest('commonjs'),
  'commonjs/index.cjs': 'module.exports = { name: "cjs", register() {} };',
  'gone/openclaw.plugin.json': manifest('gone'),
  'gone/package.json': '{"openclaw":{"extensions":["./dist/index.js"]}}',
  'gone/index.js': named('never'),
  'built/openclaw.plugin.json': manifest('built'),
  'built/package.json':
    '{"openclaw":{"extensions":["./index.ts"],"runtimeExtensions":["./dist/index.mjs"]}}',
  'built/dist/index.mjs': named('built'),
  'unread/openclaw.plugin.json': manifest('unread'),
  'unread/package.json': '{"openclaw"',
  'empty/openclaw.plugin.json': manifest('empty'),
  'bare/index.js': named('bare'),
  'hook/HOOK.md': '---\nname: greet\n---\n',
  'hook/handler.ts': 'export default async () => undefined;',
  'text/openclaw.plugin.json': 'id: text',
  'no-id/openclaw.plugin.json': '{"id":" ","configSchema":{}}',
  'no-schema/openclaw.plugin.json': '{"id":"no-schema"}',
  'where/openclaw.plugin.json': manifest('where'),
  'where/package.json': '{"openclaw":{"extensions":["./dist/index.mjs"]}}',
  'where/dist/index.mjs': 'export default ({ rootDir, logger }) => logger.info(rootDir);',
  'list/openclaw.plugin.json': '[]',
  'odd/openclaw.plugin.json': '{"id":" odd ","configSchema":{},"name":7,"channels":"all","kind":1}',
  'odd/index.mjs': 'export default () => undefined;',
  'throws/openclaw.plugin.json': manifest('throws'),
  'throws/index.mjs': "throw new Error('no database');",
  'script/openclaw.plugin.json': manifest('script'),
  'script/package.json': '{"type":"commonjs"}',
  'script/index.js': `${named('script')} (`,
  'sdk/openclaw.plugin.json': manifest('sdk'),
  'sdk/index.mjs': "import { neverThere } from 'openclaw/plugin-sdk';",
  'typed/openclaw.plugin.json': manifest('typed'),
  'typed/index.js': named('never'),
  'typed/index.ts': 'enum Kind { A }\nexport default () => Kind;',
  'typed/index.cts': 'enum Kind { A }\nmodule.exports = () => Kind;',
};

let from = '';

beforeAll(() => {
  from = mkdtempSync(join(tmpdir(), 'sluice-plugins-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(from, name)), { recursive: true });
    writeFileSync(join(from, name), text);
  }
});

afterAll(() => rmSync(from, { recursive: true }));

const load = (path: string) =>
  loadLegacyPluginFrom(path, { kernel: createKernel(), from, importModule });

describe('loadLegacyPluginFrom', () => {
  it('tells the plugin its folder', async () => {
    const logger = collectingLogger();
    await loadLegacyPluginFrom('where', { kernel: createKernel(), from, importModule, logger });
    expect(logger.entries.at(-1)?.message).toBe(`where: ${join(from, 'where')}`);
  });

  it('takes a folder with a manifest and an index file', async () => {
    const plugin = await load(join(fixtures, 'courier'));
    expect(plugin).toMatchObject({
      pluginId: 'courier',
      name: 'Courier',
      version: '1.2.0',
      description: 'Carries messages.',
      status: 'loaded',
      source: join(fixtures, 'courier', 'index.js'),
    });
  });

  it('takes the entry that package.json names, the first one alone, and says so', async () => {
    const plugin = await loadLegacyPluginFrom(join(fixtures, 'toolsmith'), {
      kernel: createKernel(),
      importModule,
    });
    expect(plugin.source).toBe(join(fixtures, 'toolsmith', 'src', 'plugin.js'));
    expect(plugin.diagnostics[0]).toEqual({
      level: 'warn',
      message: 'a plugin has one entry; not loaded: second.js',
    });
  });

  it('takes index.ts, then index.js, index.mjs and index.cjs, or the file that the path names', async () => {
    expect((await load('order')).name).toBe('mjs');
    expect((await load('./order/index.cjs')).name).toBe('cjs');
    expect((await load('order/openclaw.plugin.json')).name).toBe('mjs');
    expect((await load('commonjs')).name).toBe('cjs');
  });

  it('D5: takes the built entry of a package that leaves its sources out, by the folder and by the file', async () => {
    expect((await load('built')).name).toBe('built');
    expect((await load('built/dist/index.mjs')).name).toBe('built');
  });

  it('compiles TypeScript that Node would not run', async () => {
    expect(await load('typed')).toMatchObject({ status: 'loaded' });
  });

  it('judges the configuration by the manifest', async () => {
    const options = { kernel: createKernel(), importModule, pluginConfig: { loft: 0 } };
    const plugin = await loadLegacyPluginFrom(join(fixtures, 'courier'), options);
    expect(plugin.error?.message).toBe('courier: config.loft: must be >= 1');
  });

  it('reads of a manifest what it can, and needs its id and its schema alone', async () => {
    expect(await load('odd')).toMatchObject({ pluginId: 'odd', name: 'odd', status: 'loaded' });
  });

  it.each([
    ['missing', 'plugin-not-found', /"missing" was not found: there is no .*missing/],
    ['bare', 'plugin-not-found', /bare holds no openclaw\.plugin\.json/],
    [
      'hook',
      'plugin-not-found',
      /hook is a hook directory \(HOOK\.md\), which is not carried over/,
    ],
    ['empty', 'plugin-not-found', /empty has no entry file/],
    [
      'gone',
      'plugin-not-found',
      /package\.json names the entry .*dist.index\.js, which is no file/,
    ],
    ['unread', 'bad-manifest', /unread.package\.json: it is not JSON/],
    ['text', 'bad-manifest', /text.openclaw\.plugin\.json: it is not JSON: Unexpected token/],
    ['no-id', 'bad-manifest', /id: it must be a name/],
    ['no-schema', 'bad-manifest', /"configSchema" is missing/],
    ['list', 'bad-manifest', /its top level: .*expected object/],
    ['throws', 'module-failed', /throws.index\.mjs could not be imported: no database/],
    ['script', 'module-failed', /script.index\.js /],
    ['typed/index.cts', 'module-needs-compiling', /index\.cts is TypeScript/],
    ['sdk', 'plugin-needs-sdk', /sdk: .*index\.mjs:1 imports "openclaw.*" when it runs/],
  ])('refuses %s with %s', async (path, code, message) => {
    const refused = await load(path).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'SluiceError', code });
    expect(refused).toHaveProperty('message', expect.stringMatching(message));
  });
});
