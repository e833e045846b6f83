import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProjectFile, root, sourceFiles } from '../support/source-tree.js';
import { parse } from '../support/syntax.js';
import { type Manifest, manifestOf, workspaces } from '../support/workspaces.js';
import { circlesOf, graphOf, importsOf } from './imports.js';
import { packageOf, wrongExtensionImports, wrongImports } from './layers.js';

const src = sourceFiles('src');

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
});

describe('the manifests of src', () => {
  const own = [...workspaces].map(([folder, manifest]) => ({ folder, manifest }));
  const dependenciesIn = ({ dependencies, peerDependencies }: Manifest): string[] =>
    Object.keys({ ...dependencies, ...peerDependencies });

  it('stand in each folder, and are those of private packages, but for the kernel', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `src/${name}`);
    expect(own.map(({ folder }) => folder)).toEqual(folders);
    const published = own.filter(({ manifest }) => manifest.private !== true);
    expect(published.map(({ manifest }) => manifest.name)).toEqual(['sluice-kernel']);
  });

  it('declare nothing that no file imports', () => {
    const surplus = own.flatMap(({ folder, manifest }) => {
      const files = src.filter(({ path }) => path.startsWith(`${folder}/`));
      const imported = new Set(
        files.flatMap((file) => importsOf(file).map(({ specifier }) => packageOf(specifier))),
      );
      const texts = files.map(({ text }) => text).join('\n'); // native packages are required by a name in a string
      return dependenciesIn(manifest)
        .filter((name) => !imported.has(name) && !texts.includes(`'${name}'`))
        .map((name) => `${folder}: ${name}`);
    });
    expect(surplus).toEqual([]);
  });

  it('form no circle, and have the version of the root, but for the kernel, which has its own', () => {
    const graph = new Map(
      own.map(({ manifest }) => [
        manifest.name,
        dependenciesIn(manifest).filter((name) => /^(@sluice\/|sluice-kernel$)/.test(name)),
      ]),
    );
    expect(circlesOf(graph)).toEqual([]);
    const { version, dependencies = {} } = manifestOf('.');
    const kernel = manifestOf('src/kernel');
    const versionOf = (name: string) => (name === kernel.name ? kernel.version : version);
    expect(dependencies[kernel.name]).toBe(kernel.version);
    for (const { manifest } of own) {
      expect([manifest.name, manifest.version]).toEqual([manifest.name, versionOf(manifest.name)]);
      for (const [name, at] of Object.entries(manifest.dependencies ?? {}))
        if (/sluice/.test(name)) expect([name, at]).toEqual([name, versionOf(name)]);
        else if (name in dependencies) expect([name, at]).toEqual([name, dependencies[name]]);
    }
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
    const manifest = manifestOf(`extensions/${name}`);
    const packages = Object.keys({
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.devDependencies,
    });
    const tools = ['vitest', 'fast-check']; // of the repository
    // adapters of frameworks need the kernel alone
    expect(packages.includes('sluice') || packages.includes('sluice-kernel')).toBe(true);
    const files = sourceFiles(`extensions/${name}`);
    expect(files.flatMap((file) => wrongExtensionImports(file, [...packages, ...tools]))).toEqual(
      [],
    );
  });

  it.each(names)('%s needs at run time only sluice and what it installs itself', (name) => {
    const { dependencies, peerDependencies } = manifestOf(`extensions/${name}`);
    const files = sourceFiles(`extensions/${name}/src`);
    const allowed = Object.keys({ ...peerDependencies, ...dependencies });
    expect(files.flatMap((file) => wrongExtensionImports(file, allowed))).toEqual([]);
  });
});
