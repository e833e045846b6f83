import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { legacyHookNames } from '../../../../src/openclaw/index.js';
import { jsonLines } from '../../../cli/cli.js';
import { runInMemory } from '../../../cli/memory-shell.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const courier = join(root, 'test/fixtures/legacy-plugins/courier');
const run = promisify(execFile);
const tsc = join(root, 'node_modules/typescript/bin/tsc');

/** Makes the packages of a skeleton importable in its folder, as `npm install` would. */
function install(folder: string): void {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'sluice'));
  for (const name of ['vitest', 'typescript', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
}

describe('sluice migrate (event-pipeline §17.33)', () => {
  it('writes a contribution for each part of each hook, with its class, its options and the place of the handler', async () => {
    using folder = temporaryFolder();
    const { code, stdout, stderr } = await runInMemory(['migrate', courier, '--out', 'new'], '', {
      cwd: folder.path,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('wrote new/src/index.ts\n');
    expect(stdout).toContain('To move: 2 hook handlers, 4 commands, 2 services.');
    const source = readFileSync(join(folder.path, 'new/src/index.ts'), 'utf8');
    expect(source).toContain('    // message_sending. The plugin has it in index.js:15.\n');
    expect(source).toMatch(/api\.mutate\('egress\.preparing', '[\w-]+', \{ priority: 5 \}, /);
    expect(source).toMatch(/api\.veto\('egress\.preparing', '[\w-]+', \{ priority: 5 \}, /);
    expect(source).toMatch(/api\.observe\('ingress\.normalized', 'message-received-observer', /);
    expect(source).toContain('// The internal hook courier-audit (command:new, message:received).');
    expect(source).toMatch(/name: 'coo',\n {6}description: 'Coos\.',\n {6}forAnyone: true,/);
    expect(source).toContain("api.own('service loft', () => undefined);");
    const readme = readFileSync(join(folder.path, 'new/README.md'), 'utf8');
    expect(readme).toContain(
      '| message_sending | mutator of egress.preparing; veto of egress.preparing |',
    );
    expect(readme).toContain('- channel pigeon: ');
  });

  it('writes an extension that compiles, whose tests pass, and leave a hook that is still to be moved as a todo', async () => {
    using folder = temporaryFolder();
    await runInMemory(['migrate', courier, '--out', '.'], '', { cwd: folder.path });
    install(folder.path);
    await run(process.execPath, [tsc, '--noEmit', '--checkers', '1'], { cwd: folder.path });
    const test = () =>
      run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json'], {
        cwd: folder.path,
      }).catch((failed: { readonly stdout: string }) => failed);
    const counts = async () =>
      JSON.parse((await test()).stdout) as Readonly<Record<string, number>>;
    expect(await counts()).toMatchObject({ numPassedTests: 1, numTodoTests: 2, numFailedTests: 0 });
    const file = join(folder.path, 'test/parity.test.ts');
    const text = readFileSync(file, 'utf8');
    const moved = text.replace('["message_received","message_sending"]', '[]');
    writeFileSync(file, moved.replaceAll('"content":"hello"', '"content":"a secret"'));
    expect(await counts()).toMatchObject({ numPassedTests: 2, numTodoTests: 0, numFailedTests: 1 });
  });

  it.each([
    ['2026.3', []],
    ['2026.9', ['before_dispatch', 'model_call_started']],
  ] as const)(
    'writes an extension that compiles of all hooks of profile %s, and names each hook that compareParity does not call',
    async (profile, uncalled) => {
      const hooks = legacyHookNames[profile].map((hook) => `api.on('${hook}', () => undefined);`);
      using folder = temporaryFolder({
        'all/package.json': JSON.stringify({
          type: 'module',
          openclaw: { extensions: ['./index.js'], build: { openclawVersion: `${profile}.6` } },
        }),
        'all/openclaw.plugin.json': JSON.stringify({
          id: '@acme/all',
          configSchema: { type: 'object', required: ['key'] },
        }),
        'all/index.js': `export default { id: '@acme/all', register(api) {
        ${hooks.join('\n')}
        api.registerService({ id: "it's (one", start() {} });
      } };`,
        'sluice.json': JSON.stringify({ plugins: [{ path: './all', config: { key: 'k' } }] }),
      });
      const args = ['migrate', './all', '--out', 'new', '--config', 'sluice.json'];
      const { code, stderr } = await runInMemory(args, '', { cwd: folder.path });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const at = join(folder.path, 'new');
      const source = readFileSync(join(at, 'src/index.ts'), 'utf8');
      const readme = readFileSync(join(at, 'README.md'), 'utf8');
      for (const hook of legacyHookNames[profile])
        expect(source.includes(`    // ${hook}. `) || readme.includes(`- hook ${hook}: `)).toBe(
          true,
        );
      const tests = readFileSync(join(at, 'test/parity.test.ts'), 'utf8');
      const todo = [...tests.matchAll(/^test\.todo\('(\w+): compareParity/gm)].map(
        (match) => match[1],
      );
      expect(todo).toEqual(expect.arrayContaining([...uncalled]));
      expect(todo.length > 0).toBe(uncalled.length > 0);
      expect(todo.filter((hook) => /^before_agent_(reply|run)$/.test(String(hook)))).toEqual([]);
      expect(tests).toContain(`const profile = '${profile}';`);
      expect(tests).toContain(
        "test.skipIf(Object.keys(config).length === 0)('the extension loads'",
      );
      install(at);
      await run(process.execPath, [tsc, '--noEmit', '--checkers', '1'], { cwd: at });
    },
  );

  it('tells each file as JSON, and writes over nothing', async () => {
    using folder = temporaryFolder({ 'there/mine.txt': 'mine' });
    const at = { cwd: folder.path };
    const { stdout } = await runInMemory(['migrate', courier, '--out', 'new', '--json'], '', at);
    expect(jsonLines(stdout)).toContainEqual({ file: 'new/test/parity.test.ts', written: true });
    const refused = await runInMemory(['migrate', courier, '--out', 'there'], '', at);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /^sluice: file-exists: there is there already, and is no empty folder\. /,
    );
  });

  it.each([
    [['migrate', courier], 2, /^sluice: bad-arguments: required option '--out <dir>'/],
    [['migrate', 'nowhere', '--out', 'x'], 2, /^sluice: missing-file: Plugin "nowhere"/],
    [['migrate', 'src', '--out', 'x'], 2, /^sluice: missing-file: .* no openclaw\.plugin\.json/],
    [['migrate', courier, '--out', 'package.json'], 2, /^sluice: file-exists: package\.json/],
  ])('tells in one line what is wrong with %j', async (args, code, line) => {
    const ended = await runInMemory(args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(line);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
