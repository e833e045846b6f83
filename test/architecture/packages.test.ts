import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import telegram from '../../extensions/telegram/src/index.js';
import { starterFiles } from '../../src/cli/init/starter-files.js';
import { readProjectFile, root, sourceFiles } from '../support/source-tree.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly keywords?: readonly string[];
  readonly exports: unknown;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifestOf = (path: string): Manifest => JSON.parse(readProjectFile(path)) as Manifest;
const core = manifestOf('package.json');
const folders = readdirSync(join(root, 'extensions'));
/** It makes packages, and is no extension. */
const beginner = 'create-sluice';
/** It is the page that the command line opens: no extension, and what it needs in the browser is in its build. */
const viewer = 'inspector';
/** It connects a journal, and is no extension either. */
const journal = 'postgres';
/** They need the kernel and no host, and have a version of their own. */
const adapters = ['ai-sdk', 'judge', 'langchain', 'openai-agents'];
const packages = folders
  .filter((name) => ![beginner, viewer, ...adapters].includes(name))
  .map((name) => [name, manifestOf(`extensions/${name}/package.json`)] as const);
const published = packages.filter(([, manifest]) => manifest.private !== true);

describe('the packages beside the core', () => {
  it('are those that have run-time dependencies of their own', () => {
    expect(published.map(([, { name }]) => name)).toEqual([
      'sluice-acp',
      'sluice-budget',
      'sluice-guard',
      'sluice-http',
      'sluice-import-openclaw',
      'sluice-openai',
      'sluice-otel',
      'sluice-policies',
      'sluice-postgres',
      'sluice-rate-limit',
      'sluice-slack',
      'sluice-telegram',
      'sluice-thread-ownership',
    ]);
    for (const [, { dependencies }] of published) expect(Object.keys(dependencies)).not.toEqual([]);
  });

  it.each(packages)(
    '%s has the version of the core, and an exact minor of it as its peer',
    (_, manifest) => {
      const [major, minor] = core.version.split('.');
      expect(manifest.version).toBe(core.version);
      const { '@opentelemetry/api': api, ...peers } = manifest.peerDependencies;
      const isTraced = ['sluice-otel', 'sluice-openai'].includes(manifest.name);
      expect(api).toBe(isTraced ? '>=1.9 <2' : undefined);
      expect(peers).toEqual({ sluice: `~${major}.${minor}.0` });
      expect(manifest.dependencies).not.toHaveProperty('sluice');
    },
  );

  it.each(published)(
    '%s is named after its folder, is found by its keyword, and has one entry',
    (name, manifest) => {
      expect(manifest.name).toBe(`sluice-${name}`);
      expect(manifest.keywords).toContain(name === journal ? 'sluice-journal' : 'sluice-extension');
      expect(manifest.exports).toEqual({
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        './package.json': './package.json',
      });
    },
  );
});

describe('the adapters of frameworks', () => {
  it.each(adapters)('sluice-%s needs the kernel, and never the core', (name) => {
    const manifest = manifestOf(`extensions/${name}/package.json`);
    const { name: full, version, dependencies, peerDependencies, devDependencies } = manifest;
    const kernel = manifestOf('src/kernel/package.json').version;
    expect([full, version]).toEqual([`sluice-${name}`, '0.1.0']);
    expect(manifest.keywords).toContain('sluice-adapter');
    expect(dependencies).toEqual({
      ...(name !== 'judge' && { 'sluice-judge': '0.1.0' }),
      'sluice-kernel': `^${kernel}`,
    });
    expect({ ...peerDependencies, ...devDependencies }).not.toHaveProperty('sluice');
  });
});

describe('the inspector', () => {
  it('is a package of the version of the core that installs p-limit and nothing else', () => {
    const manifest = manifestOf(`extensions/${viewer}/package.json`);
    expect([manifest.name, manifest.version]).toEqual(['sluice-inspector', core.version]);
    expect(manifest.dependencies).toEqual({ 'p-limit': '7.3.3' });
    const [major, minor] = core.version.split('.');
    expect(manifest.peerDependencies).toEqual({
      sluice: `~${major}.${minor}.0`,
      'sluice-kernel': manifestOf('src/kernel/package.json').version, // which it installs
    });
  });
});

describe('npm create sluice', () => {
  const manifest = manifestOf(`extensions/${beginner}/package.json`);

  it('is a package of the version of the core that installs nothing else', () => {
    expect([manifest.name, manifest.version]).toEqual([beginner, core.version]);
    expect(manifest.dependencies ?? {}).toEqual({});
    expect(manifest.peerDependencies ?? {}).toEqual({});
  });

  it('gives a package the tools that `sluice init` gives a host', () => {
    const host = JSON.parse(starterFiles({ name: 'host', source: '*' })['package.json'] ?? '') as {
      readonly dependencies: Readonly<Record<string, string>>;
      readonly devDependencies: Readonly<Record<string, string>>;
    }; // written by it
    const tools = { ...host.dependencies, ...host.devDependencies };
    const own = Object.entries(manifest.devDependencies).filter(([name]) => name !== 'sluice');
    for (const [name, version] of own) expect([name, tools[name]]).toEqual([name, `^${version}`]);
  });
});

describe('src', () => {
  it('knows no channel of a package: its examples, its comments and its advice on our packages alone may name one', () => {
    const { channel } = telegram.declares ?? {};
    expect(channel?.id).toBe('telegram');
    const names = new RegExp(String(channel?.id), 'i');
    const advice = 'src/cli/pipeline/channel-packages.ts:'; // which package to install: one of ours, or none
    const code = sourceFiles('src').flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, at) => ({ line: line.trim(), place: `${path}:${at + 1}` }))
        .filter(({ line }) => names.test(line) && !/^(\/\/|\/?\*)/.test(line))
        .filter(({ place, line }) => !place.startsWith(advice) || !line.includes("'sluice-"))
        .map(({ place }) => place),
    );
    expect(code).toEqual([]);
  });
});
