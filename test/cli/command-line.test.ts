import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { readProjectFile } from '../support/source-tree.js';
import { fixture, runCli } from './cli.js';
import { runInMemory } from './memory-shell.js';

describe('the command line, in a process of its own', () => {
  it('lists its commands and exit codes', async () => {
    const { code, stdout, stderr } = await runCli(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const part of ['run ', 'stages ', 'replay ', 'Exit codes:', '$ echo hi | sluice run'])
      expect(stdout).toContain(part);
  });

  it('says its version', async () => {
    const stdout = `${packageJson.version}\n`;
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it.each([
    [['stagez'], 'unknown-command', '(Did you mean stages?)'],
    [['run', '--quite'], 'bad-arguments', '(Did you mean --quiet?)'],
    [['run', '--config', fixture('bad.config.json')], 'bad-config', 'extensions[1].path'],
    [['replay', 'no.jsonl'], 'missing-file', 'there is no file "no.jsonl"'],
  ])('refuses %j in one line, with exit code 2', async (args, code, place) => {
    const ended = await runCli(args, 'hi\n');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(new RegExp(`^sluice: ${code}: .*\n$`));
    expect(ended.stderr).toContain(place);
  });
});

/** The names of all commands, as the help lists them. */
async function commandNames(): Promise<string[]> {
  const { stdout } = await runInMemory(['--help']);
  const [, list = ''] = /^Commands:\n([\s\S]*?)\n\n/m.exec(stdout) ?? [];
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
}

const names = await commandNames();

describe('the command line', () => {
  it('has a page that names each command', async () => {
    const page = readProjectFile('docs/command-line.md');
    expect(names).toContain('check-plugin');
    expect(names.filter((name) => !page.includes(`\`sluice ${name}`))).toEqual([]);
  });

  it.each(names)('helps with %s, with an example and --json', async (command) => {
    const { code, stdout } = await runInMemory([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('--json');
    expect(stdout).toContain(`$ sluice ${command}`);
    expect(stdout).toMatch(/Exit codes:\n(?: +\d+ .*\n)+$/); // they stand last, behind the examples
    expect(stdout.split('\n').filter((line) => line.length > 90)).toEqual([]);
  });

  it.each(['add', 'list', 'check', 'remove', 'run', 'call'])(
    'helps with plugin %s, with an example of it alone',
    async (action) => {
      const { code, stdout } = await runInMemory(['plugin', action, '--help']);
      const examples = [...stdout.matchAll(/\$ sluice plugin (\w+)/g)].map(([, of]) => of);
      expect([code, [...new Set(examples)]]).toEqual([0, [action]]);
    },
  );

  it('lists each command alike, whichever is asked for', async () => {
    const { stdout } = await runInMemory(['--help']);
    expect((await runInMemory(['--help', 'explain'])).stdout).toBe(stdout);
  });

  it('shows the help where no command is given, and exits with 2', async () => {
    const { code, stdout, stderr } = await runInMemory([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: sluice');
    expect(stderr).toContain('sluice: bad-arguments: no command was given. Commands: run,');
  });

  it.each([
    [['normalise'], 'unknown-command', 'Commands: run, stages, replay'],
    [['run', '--json', '--quiet'], 'bad-arguments', 'sluice run --help'],
    [['run', 'hello'], 'bad-arguments', 'sluice run --help'],
    [['doctor', '--running', '8080'], 'bad-arguments', '--running http://127.0.0.1:8080'],
    [['doctor', '--running', 'not-a-url'], 'bad-arguments', '--running http://127.0.0.1:8080'],
    [['run', '--agent', 'eco'], 'bad-arguments', 'Agents: echo'],
    [['run', '--channel', 'fax'], 'bad-arguments', 'Channels: console'],
    [['run', '--agent', 'replay:no.jsonl'], 'missing-file', 'no.jsonl'],
    [['run', '--config', 'no.json'], 'missing-file', 'Check the path after --config.'],
    [['run', '--config', fixture('')], 'unreadable-file', 'it is a folder'],
    [['run', '--config', fixture('bad.grant.json')], 'bad-config', 'grants["acme"]'],
    [['run', '--journal', fixture('')], 'database-not-opened', 'it is a folder'],
    [['run', '--journal', fixture('audit.ts/j.db')], 'database-not-opened', 'is not a folder'],
    [
      ['run', '--api-root', 'http://127.0.0.1:9'],
      'bad-arguments',
      'sluice run --channel NAME --help',
    ],
    [['replay'], 'bad-arguments', 'sluice replay --help'],
    [['replay', fixture('')], 'unreadable-file', 'is a folder'],
  ])('refuses %j in one line that says what to do', async (args, code, hint) => {
    const ended = await runInMemory(args, 'hi\n');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(new RegExp(`^sluice: ${code}: .*\n$`));
    expect(ended.stderr).toContain(hint);
  });

  it('says beside the help of run that a channel has no package here', async () => {
    const { code, stdout, stderr } = await runInMemory(['run', '--help', '--channel', 'nosuch']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: sluice run');
    expect(stderr).toMatch(/^sluice: the help lists no options of the channel "nosuch": .*\n$/);
    expect(stderr).toContain('No such package is ours');
    expect((await runInMemory(['run', '--help', '--channel', 'console'])).stderr).toBe('');
  });

  it('adds the stack traces, of causes too, with --debug', async () => {
    const { stderr } = await runInMemory(['run', '--config', 'no.json', '--debug']);
    expect(stderr).toMatch(/^\s+at /m);
    expect(stderr).toContain('caused by Error: ENOENT');
  });
});
