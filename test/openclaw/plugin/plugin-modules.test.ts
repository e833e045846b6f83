import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compileFunction, constants } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';
import { type LegacyPlugin, loadLegacyPluginFrom } from '../../../src/openclaw/index.js';

/** Node's own `import()`: the one in this file is the test runner's, which calls no hooks. */
const importModule = compileFunction('return import(specifier)', ['specifier'], {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}) as (specifier: string) => Promise<unknown>;

let from = '';

beforeAll(() => {
  from = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-modules-')));
});

afterAll(() => rmSync(from, { recursive: true }));

/** Writes a plugin. */
function plugin(name: string, files: Readonly<Record<string, string>>): string {
  const manifest = JSON.stringify({ id: name, configSchema: {} });
  for (const [file, text] of Object.entries({ 'openclaw.plugin.json': manifest, ...files })) {
    const path = join(from, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(from, name);
}

const openclaw = (version: string, named: string): Readonly<Record<string, string>> => ({
  'package.json': JSON.stringify({
    name: 'openclaw',
    version,
    type: 'module',
    exports: { './plugin-sdk': './sdk.js' },
  }),
  'sdk.js': `export const named = '${named}';`,
});

const load = (path: string, options: { readonly openclaw?: string } = {}): Promise<LegacyPlugin> =>
  loadLegacyPluginFrom(path, { kernel: createKernel(), from, importModule, ...options });

describe('where the modules of a plugin lie (event-pipeline §17.13)', () => {
  it('a CommonJS plugin behind a symbolic link is served, with the openclaw beside its real folder', async () => {
    const path = plugin('real', {
      'index.cjs': `module.exports = { name: require('openclaw/plugin-sdk').named, register() {} };`,
    });
    plugin('real/node_modules/openclaw', openclaw('2026.3.13', 'beside'));
    const link = join(from, 'link');
    symlinkSync(path, link);
    expect(await load(link)).toMatchObject({
      name: 'beside',
      sdk: { from: 'beside', path: join(path, 'node_modules', 'openclaw') },
    });
    const own = plugin('real-2', {
      'index.cjs': `module.exports = { name: require('openclaw/plugin-sdk').DEFAULT_ACCOUNT_ID, register() {} };`,
    });
    symlinkSync(own, join(from, 'link-2'));
    expect((await load(join(from, 'link-2'))).name).toBe('default');
  });

  it('import() in a CommonJS file is served', async () => {
    const path = plugin('imports-late', {
      'index.cjs': `module.exports = { name: 'n', register() {} };
        globalThis.sluiceLate = import('openclaw/plugin-sdk').then((sdk) => sdk.DEFAULT_ACCOUNT_ID, (error) => error.message);`,
    });
    await load(path);
    expect(await (globalThis as { sluiceLate?: Promise<unknown> }).sluiceLate).toBe('default');
  });

  it('imports JSON, with an attribute and without (§17.14)', async () => {
    const path = plugin('json', {
      'package.json': JSON.stringify({ type: 'module', openclaw: { extensions: ['index.ts'] } }),
      'names.json': '{ "first": "ada" }',
      'index.ts': `import { last } from './last.js';
        import names from './names.json';
        export default { name: names.first + ' ' + last, register() {} };`,
      'last.ts': `import names from './last.json' with { type: 'json' };
        export const last: string = names.last;`,
      'last.json': '{ "last": "lovelace" }',
    });
    expect((await load(path)).name).toBe('ada lovelace');
  });

  it('two plugins of one process have each its own openclaw', async () => {
    const text = {
      'index.mjs': `import { named } from 'openclaw/plugin-sdk';
        export default { name: named + ' ' + require('openclaw/plugin-sdk').named, register() {} };`,
    };
    plugin('older', openclaw('2026.3.13', 'old'));
    plugin('newer', openclaw('2026.9.6', 'new'));
    const [one, other] = await Promise.all([
      load(plugin('one', text), { openclaw: 'older' }),
      load(plugin('other', text), { openclaw: 'newer' }),
    ]);
    expect([one.name, other.name]).toEqual(['old old', 'new new']);
  });

  it('a plugin cannot change the names that Sluice offers to the others', async () => {
    const path = plugin('changes', {
      'index.cjs': `'use strict'; const told = [];
        try { require('openclaw/plugin-sdk').DEFAULT_ACCOUNT_ID = 'mine'; } catch (error) { told.push(error.name); }
        module.exports = { name: told + require('openclaw/plugin-sdk').DEFAULT_ACCOUNT_ID, register() {} };`,
    });
    expect((await load(path)).name).toBe('TypeErrordefault');
  });

  it('the line of a missing name is that of the file as it was written', async () => {
    for (const [name, file, text] of [
      ['line-ts', 'index.ts', '// one\n\ninterface A {\n  a: 1;\n}\n'],
      ['line-require', 'index.mjs', '// one\n\n// require\n/* a\n b */\n'],
    ] as const) {
      const code = `${text}import { neverThere } from 'openclaw/plugin-sdk/core';\nexport default () => neverThere;\n`;
      const thrown = await load(plugin(name, { [file]: code })).catch((error: unknown) => error);
      expect(thrown).toHaveProperty('message', expect.stringContaining(`${file}:6 imports`));
    }
  });
});

describe('the text of a module (event-pipeline §17.14)', () => {
  const esm = `import { DEFAULT_ACCOUNT_ID as id } from 'openclaw/plugin-sdk';
    import { word } from './word.js';
    export default { name: [id, word, typeof require].join(' '), register() {} };`;
  const word = `import { basename } from 'node:path'; export const word = basename(import.meta.url);`;

  it('may be that of an ES module in a package that says CommonJS, or nothing', async () => {
    for (const type of ['commonjs', undefined]) {
      const path = plugin(`says-${type}`, {
        'package.json': JSON.stringify({ type }),
        'index.js': esm,
        'word.js': word,
      });
      expect((await load(path)).name).toMatch(/^default word\.js\S* function$/);
    }
  });

  it('may be required from CommonJS', async () => {
    const path = plugin('requires-esm', {
      'package.json': '{"type":"commonjs"}',
      'index.js': `const { word } = require('./word.js'); module.exports = { name: word, register() {} };`,
      'word.js': word,
    });
    expect((await load(path)).name).toBe('word.js');
  });

  it('may be required in a package of ES modules, with the openclaw that is named (§17.13)', async () => {
    const path = plugin('required-modules', {
      'package.json': '{ "type": "module", "openclaw": { "extensions": ["./index.js"] } }',
      'inner.mjs': `export { DEFAULT_ACCOUNT_ID as inner } from 'openclaw/plugin-sdk';`,
      'word.js': `import { inner } from './inner.mjs'; export const word = inner + ' word';`,
      'index.js': `import { createRequire } from 'node:module';
        const late = createRequire(import.meta.url);
        export default { name: late('./word.js').word, register() {} };`,
    });
    expect((await load(path)).name).toBe('default word');
  });

  it('is CommonJS if it only speaks of imports', async () => {
    const path = plugin('speaks', {
      'package.json': '{"type":"commonjs"}',
      'index.js': `// import x from 'y'\nmodule.exports = { name: 'import { a } from b; export {}', register() {} };`,
    });
    expect((await load(path)).name).toContain('export {}');
  });

  it('may import and require the name openclaw itself', async () => {
    const own = plugin('root-own', {
      'index.mjs': `import { DEFAULT_ACCOUNT_ID } from 'openclaw';
        export default { name: DEFAULT_ACCOUNT_ID + require('openclaw').DEFAULT_ACCOUNT_ID, register() {} };`,
    });
    expect((await load(own)).name).toBe('defaultdefault');
    const root = plugin('root-named', {
      'package.json': JSON.stringify({ name: 'openclaw', version: '1.0.0', exports: './root.cjs' }),
      'root.cjs': `exports.named = 'root';`,
    });
    const named = plugin('root-of-named', {
      'index.cjs': `module.exports = { name: require('openclaw').named, register() {} };`,
    });
    expect((await load(named, { openclaw: root })).name).toBe('root');
  });
});

describe('a skipped call (event-pipeline §17.12)', () => {
  it('is told once, by its name and its place in the file as it was written', async () => {
    const path = plugin('skips', {
      'index.ts': `interface Many {\n  a: 1;\n}\nexport default (api: any): void => {\n  api.registerProvider({});
  new api.runtime.tts.Speaker();\n  api.registerProvider({});\n};\n`,
    });
    const { unsupported } = await load(path);
    expect(unsupported.map(({ method, place }) => [method, place])).toEqual([
      ['api.registerProvider', join(path, 'index.ts:5')],
      ['api.runtime.tts.Speaker', join(path, 'index.ts:6')],
    ]);
  });
});
