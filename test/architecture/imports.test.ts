import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProjectFile, root, sourceFiles } from '../support/source-tree.js';
import { parse } from '../support/syntax.js';
import { circlesOf, graphOf, importsOf } from './imports.js';
import { packageOf, wrongExtensionImports, wrongImports } from './layers.js';

const src = sourceFiles('src');

/** Packages whose code is in the published files: nobody installs them, and no declaration names them. */
const bundled = ['cockatiel', 'commander', 'croner', 'pino', 'semver', 'string-width', 'ws', 'zod'];

interface PackageJson {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function dependenciesOf(path: string): PackageJson {
  return JSON.parse(readProjectFile(path)) as PackageJson;
}

describe('the imports of src', () => {
  it('point one way', () => {
    expect(src.flatMap(wrongImports)).toEqual([]);
  });

  it('form no circle, imports of types included', () => {
    expect(circlesOf(graphOf(src))).toEqual([]);
  });

  it('lead to files that exist', () => {
    const graph = graphOf(src);
    const lost = [...graph].flatMap(([from, targets]) =>
      targets
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${from} -> ${target}`),
    );
    expect(lost).toEqual([]);
  });

  it('name only Node, run-time dependencies of the package and those whose code it bundles', () => {
    const manifest = dependenciesOf('package.json');
    expect(Object.keys(manifest.devDependencies ?? {})).toEqual(expect.arrayContaining(bundled));
    const known = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    known.push(...bundled);
    const unknown = src.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => !/^(\.|node:|<computed>)/.test(specifier))
        .filter(({ specifier }) => !known.includes(packageOf(specifier)))
        .map(({ specifier }) => `${file.path} imports "${specifier}"`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('src/index.ts', () => {
  it('re-exports and computes nothing', () => {
    const body = parse(readProjectFile('src/index.ts')).body as readonly { type: string }[];
    const others = body.filter(
      (node) =>
        !/^Export(Named|All)Declaration$/.test(node.type) || !('source' in node && node.source),
    );
    expect(others).toEqual([]);
  });
});

describe('the imports of extensions', () => {
  const names = readdirSync(join(root, 'extensions'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  it.each(names)('%s imports sluice by name, its own files and its own dependencies', (name) => {
    const manifest = dependenciesOf(`extensions/${name}/package.json`);
    const packages = Object.keys({
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.devDependencies,
    });
    expect(packages).toContain('sluice');
    const files = sourceFiles(`extensions/${name}`);
    expect(files.flatMap((file) => wrongExtensionImports(file, [...packages, 'vitest']))).toEqual(
      [],
    );
  });

  it.each(names)('%s needs at run time only sluice and what it installs itself', (name) => {
    const { dependencies, peerDependencies } = dependenciesOf(`extensions/${name}/package.json`);
    const files = sourceFiles(`extensions/${name}/src`);
    const allowed = Object.keys({ ...peerDependencies, ...dependencies });
    expect(files.flatMap((file) => wrongExtensionImports(file, allowed))).toEqual([]);
  });
});
