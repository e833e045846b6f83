import { describe, expect, it } from 'vitest';
import { expectFresh, heading, table } from '../support/generated.js';
import { Modules } from '../support/modules.js';
import { readProjectFile, sourceFiles } from '../support/source-tree.js';
import { importsOf } from './imports.js';
import { packageOf } from './layers.js';

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readProjectFile('package.json')) as Manifest;
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
const modules = new Modules(sourceFiles('src', 'extensions'));
const stable = ['.', './testing', './legacy', './csdk', './channel'];

/** An entry is a file of src. */
function sourceOf(entry: string): string {
  return entry === '.' ? 'src/index.ts' : `src/${entry.slice(2)}.ts`;
}

function builtOf(entry: string): string {
  return sourceOf(entry).replace('.ts', '').replace('src/', './dist/');
}

/** The names that an entry point exports, with their kinds. */
function exportsOf(entry: string): [string, string][] {
  return [...modules.exportsOf(sourceOf(entry))].map(([name, { kind }]) => [name, kind]);
}

/** The old names of what has a new one do not count. */
function countedOf(entry: string): string[] {
  return [...modules.exportsOf(sourceOf(entry))].flatMap(([name, { module }]) =>
    module.endsWith('/deprecated.ts') ? [] : [name],
  );
}

/** The functions, classes and constants among them. */
function valuesOf(entry: string): string[] {
  return exportsOf(entry)
    .filter(([, kind]) => kind !== 'interface' && kind !== 'type')
    .map(([name]) => name);
}

function section(entry: string): string {
  const name = entry === '.' ? 'sluice' : `sluice/${entry.slice(2)}`;
  const promise = stable.includes(entry)
    ? 'Under semantic versioning.'
    : 'May change in a minor version until 1.0.';
  const rows = exportsOf(entry).map(([one, kind]) => [`\`${one}\``, kind]);
  const list = rows.length === 0 ? 'Nothing yet.' : table(['name', 'kind'], rows);
  return `## ${name}\n\n${promise}\n\n${list}`;
}

describe('the entry points', () => {
  it('are each src/<name>.ts, built to dist, types first', () => {
    for (const entry of entries) {
      const built = builtOf(entry);
      expect(Object.entries(manifest.exports[entry] ?? {})).toEqual([
        ['types', `${built}.d.ts`],
        ['default', `${built}.js`],
      ]);
    }
  });

  it('export what spec/surface.md lists', () => {
    const about = 'Every name that an entry point exports. A change here is a change for users.';
    const document = [
      heading('Public surface', about, 'test/architecture/surface.test.ts').trimEnd(),
      ...entries.map(section),
    ].join('\n\n');
    expectFresh('spec/surface.md', `${document}\n`);
  });

  it.each(entries)(
    '%s exports when it runs what its text says',
    async (entry) => {
      const loaded: object = await import(`../../${sourceOf(entry)}`);
      expect(Object.keys(loaded).sort()).toEqual(valuesOf(entry));
    },
    300_000,
  );
});

describe('the budget of names', () => {
  /** Functions, classes and constants that an author has to learn, and all names with the types. A change that raises a number gives its reason. */
  const budget: Readonly<Record<string, readonly [values: number, names: number]>> = {
    '.': [23, 150], // 144, what types commands and tools and finds the place of a message, the schemas that a stage of its author's own has, and the handler that may be fail-closed
    './testing': [28, 64], // 17, the test host with its fakes, two kits of conformance, OpenClaw's runner, two watches and a suite for parity
    './legacy': [12, 89],
    './csdk': [14, 55],
    './channel': [8, 38],
    './chat': [18, 45], // what every channel of a chat provider needs, once: how its start has failed, and its accounts, too
    './stream': [10, 67], // 7, and three for agents that speak a protocol: a writer of messages, a prompt as one text, and messages as any model takes them
    './extension': [15, 103], // 11, and the group of a process that a library starts; types of what is kept for later, and of typed commands and tools
    './gateway': [6, 32],
    './agent': [14, 63],
    './host': [26, 143], // 16 with a scrub, the two rules that tell a command and a session before the host does, seven of the ways, and a journal that is no file
  };

  it('names each entry point', () => {
    expect(Object.keys(budget).sort()).toEqual([...entries].sort());
  });

  it.each(entries)('holds %s', (entry) => {
    const [values = 0, names = 0] = budget[entry] ?? [];
    const counted = countedOf(entry);
    expect(valuesOf(entry).filter((name) => counted.includes(name)).length).toBeLessThanOrEqual(
      values,
    );
    expect(counted.length).toBeLessThanOrEqual(names);
  });
});

describe('the dependencies', () => {
  it('are none for the kernel', () => {
    const packages = sourceFiles('src/kernel').flatMap((file) =>
      importsOf(file)
        .map(({ specifier }) => specifier)
        .filter((specifier) => !specifier.startsWith('.'))
        .map(packageOf),
    );
    expect(packages).toEqual([]);
  });

  it('are pinned to one version each', () => {
    const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([, at]) => !/^\d+\.\d+\.\d+(-rc\.\d+)?$/.test(at),
    );
    expect(loose).toEqual([]);
  });
});
