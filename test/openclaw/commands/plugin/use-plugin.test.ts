import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInMemory } from '../../../cli/memory-shell.js';

let cwd = '';

const index = `export default (api) => {
  api.registerCli(({ program, config, workspaceDir, logger }) => {
    const pigeon = program.command('pigeon').description('Pigeons.');
    pigeon.command('fly').argument('<to>').option('--limit <n>', 'flights', '5')
      .action(async (to, { limit }) => {
        console.log([to, limit, config.word, typeof workspaceDir].join(' '));
        if (to === 'nowhere') process.exitCode = 3;
        if (to === 'hell') throw new Error('too hot');
        if (to === 'ever') await new Promise(() => {});
      });
  }, { commands: ['pigeon'] });
  api.registerCli(({ program }) => void program.command('other'), { commands: ['pigeon'] });
  api.registerGatewayMethod('pigeon.send', ({ params, respond, req }) => {
    if (params.to === undefined) return respond(false, undefined, { code: 'INVALID_REQUEST', message: 'to' });
    setTimeout(() => respond(true, { to: params.to, id: typeof req.id }), 1);
  });
  api.registerGatewayMethod('pigeon.send', () => undefined);
  api.registerGatewayMethod('pigeon.late', () => undefined);
  api.registerGatewayMethod('pigeon.throws', async () => { throw new Error('no wings'); });
  api.registerGatewayMethod('pigeon.asks', ({ respond, context }) => respond(true, context.startChannel('a')));
};`;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-use-'));
  const manifest = { id: 'acme', configSchema: {} };
  writeFileSync(join(cwd, 'openclaw.plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(cwd, 'index.mjs'), index);
  const config = { plugins: [{ path: '.' }], openclaw: { word: 'w' } };
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config));
});

afterAll(() => rmSync(cwd, { recursive: true }));

const sluice = (...args: readonly string[]) => runInMemory(['plugin', ...args], '', { cwd });

describe('sluice plugin run (event-pipeline §17.31)', () => {
  it('runs a command of a plugin with its own options, and prints on stdout', async () => {
    expect(await sluice('run', 'acme', 'pigeon', 'fly', 'home', '--limit', '7')).toMatchObject({
      ...{ code: 0, stdout: 'home 7 w string\n' },
    });
    expect(await sluice('run', '.', 'pigeon', 'fly', 'home')).toMatchObject({
      stdout: 'home 5 w string\n',
    });
  });

  it('shows the help of a plugin, and leaves out a command whose name is taken', async () => {
    const { code, stdout } = await sluice('run', 'acme', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: sluice plugin run acme');
    expect(stdout).toContain('Pigeons.');
    expect(stdout).not.toContain('other');
  });

  it('says by its exit code that something failed', async () => {
    const before = process.exitCode;
    expect((await sluice('run', 'acme', 'pigeon', 'fly', 'nowhere')).code).toBe(1);
    expect(process.exitCode).toBe(before);
    expect(await sluice('run', 'acme', 'pigeon', 'fly', 'hell')).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('acme: too hot') },
    });
    expect(await sluice('run', 'acme', 'pigeon', 'fly')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining("missing required argument 'to'") },
    });
    expect(await sluice('run', 'none')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('there is no plugin "none"') },
    });
  });
});

describe('a wrong command line of sluice plugin', () => {
  it.each([
    [['run', '--json', 'acme'], "unknown option '--json'"],
    [['run'], 'See `sluice plugin run --help`.'],
    [['call', 'pigeon.send', '--parms'], 'See `sluice plugin call --help`.'],
    [['fly'], 'Actions: list, add, remove, run, call, check.'],
    [[], 'Commands: list, add, remove, run, call, check.'],
  ])('%j is told with the help of its action, or the actions', async (args, words) => {
    expect(await sluice(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(words),
    });
  });
});

describe('sluice plugin call (event-pipeline §17.31)', () => {
  it('prints what a method responds', async () => {
    const answer = await sluice('call', 'pigeon.send', '--params', '{"to":"me"}', '--json');
    expect(answer.code).toBe(0);
    expect(JSON.parse(answer.stdout)).toEqual({ ok: true, payload: { to: 'me', id: 'string' } });
    const failed = await sluice('call', 'pigeon.send');
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toEqual({ code: 'INVALID_REQUEST', message: 'to' });
  });

  it.each([
    [['pigeon.throws'], 1, 'threw: no wings'],
    [['pigeon.late', '--timeout', '0.001'], 1, 'has not responded within 0.001 s'],
    [['pigeon.asks'], 1, 'registerGatewayMethod: context.startChannel is not supported'],
    [['pigeon.sent'], 2, 'Did you mean "pigeon.send"?'],
    [['pigeon.send', '--params', '[1]'], 2, '--params is no object of JSON'],
    [['pigeon.send', '--timeout', 'x'], 2, '--timeout is "x"'],
  ])('says why %j has no answer', async (args, code, words) => {
    const ended = await sluice('call', ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(words);
  });
});
