import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files of the package, without those of the build. */
function packed(): readonly string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [report] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as [
    { readonly files: readonly { readonly path: string }[] },
  ];
  return report.files.map(({ path }) => path);
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The packages that a declaration of the build imports, itself or by way of another declaration. */
function packagesOf(declaration: string, seen: Set<string> = new Set()): readonly string[] {
  if (seen.has(declaration) || !existsSync(declaration)) return [];
  seen.add(declaration);
  const code = readFileSync(declaration, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const names = [...code.matchAll(/(?:\bfrom\s|import\()\s*['"]([^'"]+)['"]/g)];
  return names.flatMap(([, name = '']) =>
    name.startsWith('.')
      ? packagesOf(join(dirname(declaration), name.replace(/\.js$/, '.d.ts')), seen)
      : [name.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1')],
  );
}

describe('the package', () => {
  const files = packed();

  it('installs what its declarations import, and for the rest what is no part of its code', () => {
    const { exports, dependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as Manifest; // the shape of our own manifest
    const entries = Object.values(exports).filter((entry) => typeof entry !== 'string');
    const imported = entries.flatMap(({ types }) => packagesOf(join(root, types)));
    const foreign = new Set(imported.filter((name) => !name.startsWith('node:')));
    const native = ['esbuild', 'libsql'];
    expect([...foreign, ...native].sort()).toEqual(Object.keys(dependencies).sort());
  });

  it('P3: holds what its pages link to', () => {
    const pages = files.filter((file) => file.endsWith('.md') && !file.startsWith('dist/'));
    expect(pages).toContain('README.md');
    const dead = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link.replace(/#.*/, ''))
        .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
        .map((link) => normalize(join(dirname(page), link)))
        .filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)))
        .map((path) => `${page}: ${path}`),
    );
    expect(dead).toEqual([]);
  });

  it('P4: holds a recording, and no tests', () => {
    const recording = 'test/fixtures/claude-stream/thinking-text-tool.jsonl';
    expect(files.filter((file) => /(^|\/)test\//.test(file) && !file.startsWith('dist/'))).toEqual([
      recording,
    ]);
  });

  it('P2: is built without source maps, whose sources it does not hold', () => {
    for (const config of [
      'tsconfig.build.json',
      'extensions/telegram/tsconfig.json',
      'extensions/slack/tsconfig.json',
      'extensions/thread-ownership/tsconfig.json',
      'extensions/policies/tsconfig.json',
      'extensions/guard/tsconfig.json',
      'extensions/rate-limit/tsconfig.json',
      'extensions/budget/tsconfig.json',
      'extensions/inspector/tsconfig.json',
      'extensions/otel/tsconfig.json',
      'extensions/http/tsconfig.json',
      'extensions/acp/tsconfig.json',
      'extensions/openai/tsconfig.json',
      'extensions/http/page/tsconfig.json',
      'extensions/inspector/page/tsconfig.json',
      'extensions/postgres/tsconfig.json',
      'extensions/import-openclaw/tsconfig.json',
      'extensions/judge/tsconfig.json',
      'extensions/ai-sdk/tsconfig.json',
      'extensions/openai-agents/tsconfig.json',
      'extensions/langchain/tsconfig.json',
    ]) {
      const { compilerOptions } = JSON.parse(readFileSync(join(root, config), 'utf8'));
      expect([config, compilerOptions.sourceMap ?? false]).toEqual([config, false]);
      expect([config, compilerOptions.declarationMap ?? false]).toEqual([config, false]);
    }
    expect(files.filter((file) => file.endsWith('.js')).length).toBeGreaterThan(10);
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
  });
});
