import { describe, expect, it } from 'vitest';
import { circlesOf, graphOf, importsOf } from './imports.js';
import { wrongExtensionImports, wrongImports } from './layers.js';

/** What the checker says of one file with one import. */
function said(path: string, text: string): string {
  return wrongImports({ path, text }).join('\n');
}

describe('the reader of imports', () => {
  it.each([
    ['static', `import { a } from './a.js';`],
    ['of a default and a namespace', `import b, * as c from './a.js';`],
    ['for its effects', `import './a.js';`],
    ['of types', `import type { A } from './a.js';`],
    ['of an inline type', `import { type A } from './a.js';`],
    ['by re-export', `export { a } from './a.js';`],
    ['by re-export of types', `export type { A } from './a.js';`],
    ['by re-export of everything', `export * from './a.js';`],
    ['by re-export of all types', `export type * from './a.js';`],
    ['dynamic', `const a = async () => (await import('./a.js')).a;`],
    ['within a type', `type A = import('./a.js').A;`],
    ['of a namespace within a type', `type A = typeof import('./a.js');`],
    ['by require', `const a = require('./a.js');`],
    ['by import-require', `import a = require('./a.js');`],
    ['over two lines', `import {\n  a,\n} from './a.js';`],
  ])('finds an import %s', (_, text) => {
    const found = importsOf({ path: 'src/kernel/x.ts', text });
    expect(found.map(({ specifier }) => specifier)).toEqual(['./a.js']);
  });

  it.each([
    ['a comment', `// import './a.js';\n/* import './b.js'; */`],
    ['a string', `export const text = "import './a.js'";`],
    ['a template', 'export const text = `import "./a.js"`;'],
  ])('finds none in %s', (_, text) => {
    expect(importsOf({ path: 'src/kernel/x.ts', text })).toEqual([]);
  });

  it('names the line', () => {
    const text = `\n\nimport './a.js';`;
    expect(importsOf({ path: 'src/kernel/x.ts', text })[0]?.line).toBe(3);
  });
});

describe('the rule of packages', () => {
  it.each([
    ['src/kernel/x.ts', '../sdk/extension/index.js', 'by its name'],
    ['src/host/x.ts', '../kernel/run/y.js', 'by its name'],
    ['src/host/x.ts', '@sluice/host', 'its own package, by name'],
    ['src/host/x.ts', '@sluice/openclaw', 'does not declare'],
    ['src/agent/x.ts', '@sluice/journal', 'does not declare'],
    ['src/journal/x.ts', 'pino', 'does not declare'],
    ['src/host/x.ts', '@sluice/journal/sqlite/sqlite-rows.js', 'does not export'],
    ['src/host/x.ts', 'sluice-kernel/run', 'does not export'],
    ['src/sdk/extension/x.ts', '../stream/provider.js', 'lies above'],
    ['src/host/x.ts', '../index.js', 'for authors'],
    ['src/host/x.ts', '../../test/support/syntax.js', 'outside of src'],
    ['src/utils/x.ts', '../kernel/index.js', 'no layer'],
    ['src/host/x.ts', 'sluice/testing', 'by name'],
    ['src/kernel/run/x.ts', 'node:fs', 'itself alone'],
    ['src/kernel/x.ts', 'typebox/compile', 'does not declare'],
    ['src/kernel/x.ts', 'zod', 'does not declare'],
  ])('refuses in %s an import of %s', (path, specifier, problem) => {
    expect(said(path, `import type { A } from '${specifier}';`)).toContain(problem);
    expect(said(path, `const a = import('${specifier}');`)).toContain(problem);
  });

  it.each([
    ['src/kernel/run/x.ts', '../stage.js'],
    ['src/host/x.ts', 'sluice-kernel/internal'],
    ['src/host/x.ts', '@sluice/journal'],
    ['src/host/x.ts', 'node:fs'],
    ['src/sdk/channel/x.ts', '../stream/stream-delta.js'],
    ['src/index.ts', '@sluice/testing'],
    ['src/index.ts', './host.js'],
    ['src/index.ts', 'sluice-kernel'],
  ])('allows in %s an import of %s', (path, specifier) => {
    expect(said(path, `export { a } from '${specifier}';`)).toBe('');
  });

  it('refuses in the kernel an import whose module is computed', () => {
    expect(said('src/kernel/x.ts', 'const a = import(name);')).toContain('computes');
  });
});

describe('the rule of extensions', () => {
  it.each(['../../src/index.js', '../other/index.js', 'zod', 'sluices'])(
    'refuses an import of %s',
    (specifier) => {
      const file = { path: 'extensions/acme/index.ts', text: `import '${specifier}';` };
      expect(wrongExtensionImports(file, ['sluice'])).toHaveLength(1);
    },
  );

  it.each(['sluice', 'sluice/testing', './a.js', 'node:fs'])(
    'allows an import of %s',
    (specifier) => {
      const file = { path: 'extensions/acme/index.ts', text: `import '${specifier}';` };
      expect(wrongExtensionImports(file, ['sluice'])).toEqual([]);
    },
  );
});

describe('the search for circles', () => {
  it('finds one that only types close', () => {
    const graph = graphOf([
      { path: 'src/kernel/a.ts', text: `import { b } from './b.js';` },
      { path: 'src/kernel/b.ts', text: `export * from './c.js';` },
      { path: 'src/kernel/c.ts', text: `import type { A } from './a.js';` },
    ]);
    expect(circlesOf(graph)).toEqual([
      'src/kernel/a.ts -> src/kernel/b.ts -> src/kernel/c.ts -> src/kernel/a.ts',
    ]);
  });

  it('finds a file that imports itself', () => {
    const graph = graphOf([{ path: 'src/kernel/a.ts', text: `import './a.js';` }]);
    expect(circlesOf(graph)).toHaveLength(1);
  });

  it('takes two ways to one file for no circle', () => {
    const graph = graphOf([
      { path: 'src/kernel/a.ts', text: `import './b.js';\nimport './c.js';` },
      { path: 'src/kernel/b.ts', text: `import './c.js';` },
      { path: 'src/kernel/c.ts', text: '' },
    ]);
    expect(circlesOf(graph)).toEqual([]);
  });
});
