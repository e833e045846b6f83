import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/internal.js';
import { finishDeclarations } from '../support/finish-declarations.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
/** Several checkers would each do much of the work of the others: one takes half of the processor's time. */
const frugally = ['--checkers', '1'];

/** A folder with this package built and installed in it. It lies in node_modules, so that dependencies are found. */
let project = '';

const consumer = `
import { Type } from 'typebox';
import {
  createKernel,
  defineExtension,
  defineStage,
  type ErrorCode,
  type ExtensionApi,
  type StageTypes,
} from 'sluice';
import { loadExtension } from 'sluice/extension';
import { expectPassed } from 'sluice/testing';

const checking = defineStage({
  family: 'acme.billing.checking',
  classes: ['mutator'],
  mode: 'sequential',
  payload: Type.Object({ cents: Type.Integer() }),
  patch: Type.Object({ cents: Type.Optional(Type.Integer()) }),
});

declare module 'sluice' {
  interface Families {
    'acme.billing.checking': StageTypes<typeof checking>;
  }
  interface Provisions {
    'acme.metric': { read(): number };
  }
}

/** The codes of each layer: the declarations merge them. */
export const codes = [
  'bad-option',
  'setup-failed',
  'run-driven',
  'no-plugin',
  'session-out-of-order',
  'client-stopped',
  'permit-used',
  'missing-package',
  'database-full',
  // @ts-expect-error misspelt
  'database-ful',
] satisfies ErrorCode[];

const extension = defineExtension({
  id: 'acme',
  setup(api) {
    api.mutate('acme.billing.checking', 'double', ({ payload }) => ({ cents: payload.cents * 2 }));
  },
});

/** Never called: the merged family is held to its row as every other. */
export function gate(api: ExtensionApi): void {
  // @ts-expect-error its stage allows mutators only
  api.veto('acme.billing.checking', 'gate', () => undefined);
  // @ts-expect-error cents is a number
  api.mutate('acme.billing.checking', 'gate', () => ({ cents: '1' }));
  api.provide('acme.metric', { read: () => 1 });
  // @ts-expect-error it reads a number
  api.provide('acme.metric', { read: () => '1' });
  // @ts-expect-error an agent has a provider
  api.provide('agent', { id: 'main' });
}

const kernel = createKernel({ stages: [checking] });
await loadExtension(kernel, extension);
const outcome = expectPassed(await kernel.dispatch('acme.billing.checking', { cents: 21 }));
const cents: number = outcome.payload.cents;
console.log(cents);
`;

const host = `
import { createKernel } from 'sluice';
import { loadExtension, loadExtensionModule } from 'sluice/extension';
import { expectCancelled, samplePayload } from 'sluice/testing';

const kernel = createKernel();
const extension = await loadExtensionModule('@sluice-extensions/quiet-hours');
const loaded = await loadExtension(kernel, extension, { config: { from: '22:00', to: '07:00' } });
if (loaded.status === 'disabled') throw loaded.error;
const payload = { ...samplePayload('egress.preparing'), kind: 'notice' };
const night = { occurredAt: Date.UTC(2026, 0, 1, 23) };
const outcome = await kernel.dispatch('egress.preparing', payload, night);
console.log(expectCancelled(outcome).cancel.text);
`;

const shipped = `
import { createKernel } from 'sluice';
import { loadExtension, loadExtensionModule } from 'sluice/extension';
import threadOwnership from 'sluice-thread-ownership';

const byName = await loadExtensionModule('sluice-thread-ownership');
if (byName !== threadOwnership) throw new Error('two copies of it');
const loaded = await loadExtension(createKernel(), byName);
if (loaded.status === 'disabled') throw loaded.error;
console.log(loaded.labels().join('; '));
`;

/** Defines an extension by the Sluice of this project, and loads it into a host of the Sluice that is installed. */
const copies = `
import { createKernel } from 'sluice';
import { loadExtension } from 'sluice/extension';
import { defineExtension } from ${JSON.stringify(pathToFileURL(join(root, 'dist/index.js')).href)};

let ran = false;
const extension = defineExtension({ id: 'acme', setup: () => { ran = true; } });
const { error } = await loadExtension(createKernel(), extension);
console.log(JSON.stringify({ ran, code: error?.code, text: error?.message }));
`;

/** The name that the compiler is to give, per line: a payload, or a patch. */
const named = canonicalStages.flatMap(({ family, patch }) => {
  const name = family.replace(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const payload = { name, type: `PayloadOf<'${family}'>` };
  return patch === undefined
    ? [payload]
    : [payload, { name: `${name}Patch`, type: `PatchOf<'${family}'>` }];
});

const misfits = `
import type { PatchOf, PayloadOf } from 'sluice';
${named.map(({ type }, at) => `export const line${at}: number = {} as ${type};`).join('\n')}
`;

const compilerOptions = {
  target: 'ES2023',
  lib: ['ES2023', 'ESNext.Disposable'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
};

beforeAll(() => {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  project = mkdtempSync(join(root, 'node_modules/.cache/sluice-author-'));
  const installed = join(project, 'node_modules/sluice');
  mkdirSync(installed, { recursive: true });
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'));
  // what is wrong in src is found by `npm run typecheck`; this is about what gets out of it
  const outDir = join(installed, 'dist');
  compile('-p', join(root, 'tsconfig.build.json'), '--outDir', outDir, '--noCheck');
  cpSync(outDir, join(project, 'inferred'), { recursive: true });
  const kernel = join(project, 'node_modules/sluice-kernel');
  finishDeclarations(outDir, join(kernel, 'dist'));
  copyFileSync(join(root, 'src/kernel/package.json'), join(kernel, 'package.json'));
  for (const [from, to] of [
    ['dist', outDir],
    ['src/kernel/dist', join(kernel, 'dist')],
  ] as const)
    cpSync(join(root, from), to, {
      recursive: true,
      filter: (path) => !path.endsWith('.d.ts'),
    });
  const beside = join(project, 'node_modules/sluice-thread-ownership');
  copyPackage('thread-ownership', beside);
  compile('-p', beside, '--noCheck');
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
  );
  writeFileSync(
    join(project, 'misfits.json'),
    JSON.stringify({ compilerOptions, files: ['misfits.ts'] }),
  );
  writeFileSync(join(project, 'misfits.ts'), misfits);
  writeFileSync(join(project, 'consumer.ts'), consumer);
  writeFileSync(join(project, 'host.js'), host);
  writeFileSync(join(project, 'shipped.js'), shipped);
  writeFileSync(join(project, 'copies.js'), copies);
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Copies a package of this project, without what a build has left in it. */
function copyPackage(name: string, to: string): void {
  cpSync(join(root, 'extensions', name), to, {
    recursive: true,
    filter: (path) => !/\/(dist|node_modules)$/.test(path.slice(root.length)),
  });
}

/** Runs a script under Node in the project, and gives what it printed. What goes wrong there fails the test. */
function run(script: string, args: readonly string[] = []): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: project,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}:\n${stdout}${stderr}`);
  return stdout.trim();
}

function compile(...args: readonly string[]): void {
  run(tsc, [...args, ...frugally]);
}

describe('the built package, imported by its name (§2, §13)', () => {
  it("takes an author's families into its types, and runs", () => {
    compile();
    expect(run('consumer.js')).toBe('42');
  });

  it('shows each payload and patch by the name of its interface, not by its fields (§2.1)', () => {
    const options = ['-p', 'misfits.json', '--noEmit', '--pretty', 'false', ...frugally];
    const { stdout } = spawnSync(process.execPath, [tsc, ...options], {
      cwd: project,
      encoding: 'utf8',
    });
    const shown = [...stdout.matchAll(/Type '(.+?)' is not assignable to type 'number'/g)];
    expect(shown.map(([, type]) => type)).toEqual(named.map(({ name }) => name));
  });

  it('has fields with descriptions that are the types of the schemas, no looser and no stricter (§2.6, §20.1)', () => {
    const inferred = join(project, 'inferred/kernel/catalog');
    const names = readdirSync(inferred, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.d.ts'))
      .flatMap((file) => [
        ...readFileSync(join(inferred, file), 'utf8').matchAll(
          /interface (\w+) extends (?:Readonly<)?Infer</g,
        ),
      ])
      .map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(60);
    writeFileSync(
      join(project, 'same.ts'),
      `import type { z } from 'zod';
import type { configSchema } from './inferred/host/config/schema.js';
import type { SluiceConfig } from './node_modules/sluice/dist/host/config/sluice-config.js';
import type * as described from './node_modules/sluice-kernel/dist/catalog/index.js';
import type * as inferred from './inferred/kernel/catalog/index.js';
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
// @ts-expect-error it tells an optional field from another
export const other: Same<{ a?: string }, { a: string }> = true;
export const isConfig: Same<Pick<SluiceConfig, keyof SluiceConfig>, z.input<typeof configSchema>> = true;
${names.map((name) => `export const is${name}: Same<described.${name}, inferred.${name}> = true;`).join('\n')}
`,
    );
    const options = { ...compilerOptions, exactOptionalPropertyTypes: true };
    const config = { compilerOptions: options, files: ['same.ts'] };
    writeFileSync(join(project, 'same.json'), JSON.stringify(config));
    compile('-p', 'same.json', '--noEmit');
  });

  it('takes a package beside it, which imports it by its name, too', () => {
    expect(run('shipped.js')).toBe(
      'observer mentions on ingress.normalized; veto owner on egress.preparing',
    );
  });

  it('declares its entry points with nothing but what is installed with it', () => {
    const { exports, dependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as {
      readonly exports: Readonly<Record<string, { readonly types?: string }>>;
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const installed = join(project, 'node_modules/sluice');
    const files = new Set(
      Object.values(exports).flatMap(({ types }) =>
        types === undefined ? [] : join(installed, types),
      ),
    );
    const packages = new Set<string>();
    for (const file of files)
      for (const [, name = ''] of readFileSync(file, 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .matchAll(/\b(?:from\s|import\s*\(?)\s*['"]([^'"]+)['"]/g))
        if (name.startsWith('.')) files.add(join(dirname(file), name.replace(/\.js$/, '.d.ts')));
        else if (!name.startsWith('node:')) packages.add(name.split('/')[0] ?? '');
    expect(files.size).toBeGreaterThan(100);
    const known = Object.keys(dependencies);
    expect([...packages].filter((name) => !known.includes(name))).toEqual([]);
  });

  it('refuses an extension that another copy has defined, and names both (§13.12)', () => {
    expect(JSON.parse(run('copies.js'))).toEqual({
      ran: false,
      code: 'two-copies',
      text: `Extension "acme" was defined by the Sluice in ${root.slice(0, -1)} (0.2.0), and the host is the Sluice in ${join(project, 'node_modules/sluice')} (0.2.0).`,
    });
  });

  it('runs an extension that is a package of its own', () => {
    const extension = join(project, 'node_modules/@sluice-extensions/quiet-hours');
    copyPackage('quiet-hours', extension);
    compile('-p', extension);
    expect(run('host.js')).toBe('quiet until 07:00 (UTC)');
  });
});
