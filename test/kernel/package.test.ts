import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/catalog/index.js';
import { kernelErrors } from '../../src/kernel/error-rows.js';
import { schemas } from '../../src/kernel/schemas.js';
import { freshDeclarations } from '../support/fresh-declarations.js';
import { expectFresh, heading } from '../support/generated.js';
import { root } from '../support/source-tree.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { manifestOf } from '../support/workspaces.js';

const dist = join(root, 'src/kernel/dist');
const built = (name: string): Promise<Record<string, unknown>> => import(join(dist, `${name}.js`));

/** An entry of the built kernel as a bundler for browsers makes it. */
async function minified(entry: string): Promise<{ code: string; imports: readonly string[] }> {
  const bundle = await rolldown({ input: join(dist, `${entry}.js`), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  return { code: output[0].code, imports: output[0].imports };
}

describe('the package sluice-kernel (§2.8)', () => {
  // exact counts, which no machine makes larger; a change that raises one gives its reason
  it.each([
    ['index', 122_900, 40_450],
    ['core', 75_900, 25_410],
  ])('has an entry %s of at most %d bytes, and %d compressed', async (entry, whole, compressed) => {
    const { code, imports } = await minified(entry);
    expect(imports).toEqual([]);
    expect(Buffer.byteLength(code)).toBeLessThanOrEqual(whole);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(compressed);
  });

  it('has a core that throws the code and the details of each misuse, and refuses what it has not', () => {
    const program = `import { createKernel, defineStage } from ${JSON.stringify(join(dist, 'core.js'))};
const stage = defineStage({ family: 'a.b', classes: ['veto'], mode: 'sequential', payload: { type: 'object', properties: {} } });
const kernel = createKernel({ stages: [stage] });
const veto = { family: 'a.b', class: 'veto', extensionId: 'a', id: 'b', handler: () => {} };
const told = [
  () => kernel.contribute({ ...veto, handler: 1 }),
  () => kernel.contribute({ ...veto, match: {} }),
  () => kernel.contribute({ ...veto, mode: 'audit' }),
  ...['grants', 'leastPrivilege', 'quarantine', 'overrides', 'audit', 'generateCode'].map(
    (name) => () => createKernel({ stages: [stage], [name]: {} }),
  ),
].map((run) => { try { run(); } catch ({ code, message, hint }) { return [code, message, hint]; } });
console.log(JSON.stringify([told, Object.keys(kernel)]));`;
    const args = ['--input-type=module', '--eval', program];
    const [told, functions] = JSON.parse(
      execFileSync(process.execPath, args, { encoding: 'utf8' }),
    );
    const [first, ...others]: string[][] = told;
    expect(first).toEqual([
      'bad-contribution',
      'bad-contribution: extensionId a, contributionId b, family a.b, problem handler must be a function',
      "Read kernelErrors['bad-contribution'] of sluice-kernel/error-rows.",
    ]);
    expect(
      others.map(([code, message = '']) => [code, / problem (.*)$/.exec(message)?.[1]]),
    ).toEqual([
      ['bad-contribution', 'it has no field "match"'],
      ['bad-contribution', 'it has no field "mode"'],
      ...Array.from({ length: 6 }, () => ['bad-option', 'only sluice-kernel has it']),
    ]);
    expect(functions).not.toContain('grant');
  });

  it('depends on nothing, and imports nothing but its own files', () => {
    const { dependencies, peerDependencies } = manifestOf('src/kernel');
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
    const texts = files.filter((file) => /\.(js|d\.ts)$/.test(file));
    expect(texts.length).toBeGreaterThan(50);
    const imported = texts.flatMap((file) => {
      const code = readFileSync(join(dist, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
      return [...code.matchAll(/(?:\bfrom\s|\bimport\()\s*['"]([^'"]+)['"]/g)].map(([, to]) => to);
    });
    expect(imported.filter((to) => to?.startsWith('.') !== true)).toEqual([]);
  });

  it('has the stages of its source, but for the sentences for people, which have entries of their own', async () => {
    const bare = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (key, one) =>
          ['description', 'purpose', 'emittedWhen', 'cause'].includes(key) &&
          typeof one === 'string'
            ? undefined
            : one,
        ),
      );
    const { canonicalStages: stages } = await built('index');
    expect(stages).toHaveLength(canonicalStages.length);
    expect(bare(stages)).toEqual(bare(canonicalStages));
    expect(/.{60}"description".{40}/.exec(JSON.stringify(stages))?.[0]).toBe(undefined);
    expect((await built('schemas'))['schemas']).toEqual(schemas);
    expect((await built('error-rows'))['kernelErrors']).toEqual(kernelErrors);
  });

  it('is typed without skipLibCheck and without any other package', () => {
    using folder = temporaryFolder({
      'package.json': '{ "type": "module" }',
      'main.ts': `import { createKernel, defineStage, type PayloadOf } from 'sluice-kernel';
import { createKernel as core } from 'sluice-kernel/core';
import { schemas } from 'sluice-kernel/schemas';
const text: PayloadOf<'egress.preparing'>['content'] = 'x';
// @ts-expect-error it is a text
const wrong: PayloadOf<'egress.preparing'>['content'] = 7;
// @ts-expect-error it has no stages of its own
core({});
// @ts-expect-error it has no operator
core({ stages: [], grants: {} });
const pipeline = core({ stages: [] });
// @ts-expect-error so it grants nothing
pipeline.grant;
// @ts-expect-error and it has no audit mode
pipeline.contribute({ family: 'egress.preparing', class: 'veto', extensionId: 'a', id: 'b', mode: 'audit', handler: () => undefined });
pipeline.contribute({ family: 'egress.preparing', class: 'veto', extensionId: 'a', id: 'b', handler: () => undefined });
createKernel().contribute({ family: 'agent.tool.calling', class: 'veto', extensionId: 'a', id: 'b', handler: ({ payload }) => { payload.toolName satisfies string; } });
export { defineStage, schemas, text, wrong };
`,
    });
    const installed = join(folder.path, 'node_modules/sluice-kernel');
    cpSync(join(root, 'src/kernel/package.json'), join(installed, 'package.json'), {
      recursive: true,
    });
    for (const { path, text } of freshDeclarations())
      if (path.startsWith('kernel/'))
        folder.write(`node_modules/sluice-kernel/dist/${path.slice('kernel/'.length)}`, text);
    const compilerOptions = {
      ...{ target: 'ES2023', module: 'NodeNext', strict: true, exactOptionalPropertyTypes: true },
      ...{
        lib: ['ES2023', 'ESNext.Disposable', 'DOM'],
        types: [],
        skipLibCheck: false,
        noEmit: true,
      },
    };
    writeFileSync(
      join(folder.path, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['main.ts'] }),
    );
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder.path, '--checkers', '1'],
      { encoding: 'utf8' },
    );
    expect(stdout).toBe('');
  });

  it('promises what its API report says', () => {
    const texts = new Map(freshDeclarations().map(({ path, text }) => [path, text]));
    const open = ['index', 'core', 'schemas', 'error-rows'].map((name) => `kernel/${name}.d.ts`);
    const reached = new Set(open);
    for (const path of reached)
      for (const [, to = ''] of (texts.get(path) ?? '').matchAll(/from '(\.[^']+)\.js'/g))
        reached.add(posix.join(posix.dirname(path), `${to}.d.ts`));
    const sections = [...reached].sort().map((path) => {
      const bare = (texts.get(path) ?? '')
        .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
        .replaceAll(/^\s*\n/gm, '');
      // not the rows and their schemas: spec/stages.md and spec/schemas have them
      const isData = path.startsWith('kernel/catalog/') && path !== 'kernel/catalog/index.d.ts';
      const statements = bare.split(/\n(?=[a-z])/);
      const told = statements.filter((one) => !isData || !/^(export )?declare const /.test(one));
      return `## ${path.slice('kernel/'.length)}\n\n\`\`\`ts\n${told.join('\n').trim()}\n\`\`\``;
    });
    const about =
      'The declarations of the package, without comments. A change here is a change for users.';
    const page = [
      heading('API of sluice-kernel', about, 'test/kernel/package.test.ts').trimEnd(),
      ...sections,
    ];
    expectFresh('spec/kernel-api.md', `${page.join('\n\n')}\n`);
  });

  it('is imported at a cost of at most 5 MB (7 MB on Node 24), and of CPU that is printed', () => {
    const cost = (code: string): { cpuMs: number; rssMb: number } => {
      const measured = `const before = [process.cpuUsage(), process.memoryUsage().rss]; ${code}
const { user, system } = process.cpuUsage(before[0]);
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rssMb: (process.memoryUsage().rss - before[1]) / 2 ** 20 }));`;
      const args = ['--input-type=module', '--eval', measured];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    };
    const { cpuMs, rssMb } = cost(`await import(${JSON.stringify(join(dist, 'index.js'))});`);
    console.log(`import of sluice-kernel: ${cpuMs.toFixed(1)} ms of CPU, ${rssMb.toFixed(1)} MB`);
    expect(cpuMs).toBeGreaterThan(0); // other programs make it larger
    const isUsual = Number(process.versions.node.split('.')[0]) < 24;
    expect(rssMb).toBeLessThanOrEqual(isUsual ? 5 : 7);
  });
});
