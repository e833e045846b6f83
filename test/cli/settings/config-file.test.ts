import { describe, expect, it } from 'vitest';
import { recordings } from '../../support/recordings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { fixture, jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const extension = (id: string) =>
  `export default { kind: 'sluice-extension', id: '${id}', config: undefined, setup(api) {
     api.observe('runtime.started', 'seen', () => undefined);
   } };`;

const retriesExhausted = recordings().find(({ name }) =>
  name.endsWith('retries-exhausted.jsonl'),
)?.path;

/** The handlers that \`sluice stages\` shows in a folder. */
async function handlersIn(cwd: string, args: readonly string[] = []): Promise<string[]> {
  const { code, stdout, stderr } = await runInMemory(['stages', '--json', ...args], '', { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return jsonLines<{ handlers: { extensionId: string }[] }>(stdout).flatMap(({ handlers }) =>
    handlers.map(({ extensionId }) => extensionId),
  );
}

describe('the config file (§20.1)', () => {
  it.each([
    ['sluice.config.json', '{ "extensions": [{ "path": "./one.mjs" }] }'],
    ['sluice.config.mjs', 'export default { extensions: [{ path: "./one.mjs" }] };'],
    [
      'sluice.config.ts',
      `const path: string = './one.mjs';\nexport default { extensions: [{ path }] };`,
    ],
  ])('is found in the folder of the command: %s', async (name, text) => {
    using folder = temporaryFolder({ [name]: text, 'one.mjs': extension('one') });
    expect(await handlersIn(folder.path)).toEqual(['one']);
    expect(await handlersIn(folder.path, ['--no-config'])).toEqual([]);
  });

  it('has its paths read from its own folder', async () => {
    using folder = temporaryFolder({
      'deep/my.json': '{ "extensions": [{ "path": "./one.mjs" }] }',
      'deep/one.mjs': extension('one'),
      'two.mjs': extension('two'),
    });
    const args = ['--config', 'deep/my.json', '--extension', 'two.mjs'];
    expect(await handlersIn(folder.path, args)).toEqual(['one', 'two']);
  });

  it.each([
    [
      { 'sluice.config.json': '{}', 'sluice.config.mjs': 'export default {};' },
      'sluice: bad-config: sluice.config.mjs and sluice.config.json are both here. Keep one of them',
    ],
    [
      { 'sluice.config.mjs': 'export const config = {};' },
      'sluice.config.mjs has no default export',
    ],
    [
      { 'sluice.config.mjs': 'throw new Error("no luck");' },
      'sluice: unreadable-file: config sluice.config.mjs could not be imported: no luck. Fix the module',
    ],
    [
      { 'sluice.config.json': '{\n  "token": "planted-secret",\n  agent: 1 }' },
      `sluice.config.json is not JSON: Expected double-quoted property name at line 3, column 3. Fix`,
    ],
    [
      { 'sluice.config.json': '{\n  "extensions": [\n}' },
      `sluice.config.json is not JSON: Unexpected token '}' at line 3, column 1. Fix`,
    ],
    [
      { 'sluice.config.json': '{ "token": planted-secret }' },
      'sluice.config.json is not JSON: Unexpected',
    ],
  ])('is refused where it cannot be read: %j', async (files, expected) => {
    using folder = temporaryFolder(files);
    const { code, stderr } = await runInMemory(['stages'], '', { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
    expect(stderr).not.toContain('planted');
  });

  it('is refused by its name if no config can have that ending', async () => {
    using folder = temporaryFolder({ 'sluice.yaml': 'agent: echo' });
    const args = ['stages', '--config', 'sluice.yaml'];
    const { code, stderr } = await runInMemory(args, '', { cwd: folder.path });
    expect(code).toBe(2);
    expect(stderr).toContain('sluice: unreadable-file: config sluice.yaml could not be imported: ');
    expect(stderr).toContain('Name a file that ends in .ts, .mts, .js, .mjs or .json.');
  });

  it('has a line for each of its mistakes', async () => {
    using folder = temporaryFolder({
      'sluice.config.json':
        '{ "agnt": "echo", "lanes": { "capacity": 0 }, "budgets": { "sendTimeoutMs": "x" } }',
    });
    const { code, stderr } = await runInMemory(['run'], '', { cwd: folder.path });
    expect(code).toBe(2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines)
      expect(line).toMatch(/^sluice: bad-config: sluice\.config\.json at \S+: /);
    expect(lines.join('\n')).toContain('Did you mean "agent"?');
  });

  it('gives extensions their secrets from the environment (§20.2)', async () => {
    using folder = temporaryFolder({
      'sluice.config.json':
        '{ "extensions": [{ "path": "./one.mjs", "config": { "token": { "env": "ONE_TOKEN" } } }] }',
      'one.mjs': `const validate = (value) => value.token === 'right' ? { value } : { issues: [{ message: 'wrong token', path: ['token'] }] };
        export default { kind: 'sluice-extension', id: 'one', config: { '~standard': { version: 1, vendor: 'test', validate } }, setup() {} };`,
    });
    const stages = (env: Record<string, string>) =>
      runInMemory(['stages'], '', { cwd: folder.path, env });
    expect((await stages({ ONE_TOKEN: 'right' })).code).toBe(0);
    expect(await stages({ ONE_TOKEN: 'other' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('wrong token'),
    });
    expect(await stages({})).toMatchObject({
      code: 2,
      stderr:
        'sluice: bad-config: sluice.config.json at extensions[0].config.token: the environment has no ONE_TOKEN. Set ONE_TOKEN where the host is started.\n',
    });
  });

  it('may list agents, of which one is the default', async () => {
    using folder = temporaryFolder({
      'sluice.config.json':
        '{ "agents": [{ "id": "a", "provider": "replay:none.jsonl" }, { "id": "b", "provider": "echo" }], "defaultAgent": "b" }',
      'none.jsonl': '',
    });
    const run = await runInMemory(['run', '--quiet'], 'hello\n', { cwd: folder.path });
    expect(run).toMatchObject({ code: 0, stdout: 'hello\n' });
  });

  it('says which channels are started, of all that extensions provide', async () => {
    using folder = temporaryFolder({
      'sluice.config.json': JSON.stringify({
        channels: ['console'],
        extensions: [{ path: fixture('pigeon.ts') }],
      }),
    });
    const run = await runInMemory(['run', '--quiet'], 'hello\n', { cwd: folder.path });
    expect(run).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
  });

  it('IV.1: words what the sender of a message reads if it could not be answered (§16.19)', async () => {
    using folder = temporaryFolder({
      'sluice.config.json': JSON.stringify({
        agent: `replay:${retriesExhausted}`,
        failureText: { 'provider-failed': 'Sorry, I cannot think right now.' },
      }),
    });
    const run = await runInMemory(['run', '--quiet'], 'hello\n', { cwd: folder.path });
    expect(run).toMatchObject({ code: 1, stdout: 'Sorry, I cannot think right now.\n' });
    expect(run.stderr).not.toContain('API Error');
  });
});
