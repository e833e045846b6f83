import { describe, expect, it } from 'vitest';
import { type Addition, exitCodes } from '../../src/cli/index.js';
import { scriptedAgent } from '../../src/testing/index.js';
import { fixture } from './cli.js';
import { runInMemory } from './memory-shell.js';

const asked: unknown[] = [];

const addition: Addition = {
  commands: [
    {
      name: 'greet',
      summary: 'say hello',
      load: async () => ({
        addCommand: (command, { stdout }, done) => {
          command.argument('<name>').action((name: string) => {
            stdout.lines([`hello ${name}`]);
            done(exitCodes.ok);
          });
        },
      }),
    },
  ],
  agents: [
    {
      name: 'oracle',
      forms: ['oracle:MODEL'],
      form: /^oracle:\w+$/,
      namesModel: true,
      load: async () => ({
        makeAgent: async (named, { cwd }) => {
          asked.push(named, cwd);
          return { ...scriptedAgent([['42']]), id: 'oracle', models: ['deep'] };
        },
      }),
    },
  ],
};

const run = (args: readonly string[], additions: readonly Addition[] = [addition], input = '') =>
  runInMemory(args, input, { cwd: '/', additions });

describe('an addition to the command line', () => {
  it('has its commands in the list and runs them', async () => {
    const { stdout } = await run(['--help']);
    expect(stdout).toMatch(/\n {2}status .*\n {2}greet +say hello\n {2}doctor /);
    expect(await run(['greet', 'Ada'])).toEqual({ code: 0, stdout: 'hello Ada\n', stderr: '' });
    expect((await run(['greet', 'Ada'], [])).stderr).toContain('unknown-command');
  });

  it('has agents that --agent names, with a model behind the colon', async () => {
    const args = ['run', '--no-config', '--quiet', '--agent'];
    const answered = await run([...args, 'oracle:deep'], [addition], 'why\n');
    expect(answered).toEqual({ code: 0, stdout: '42\n', stderr: '' });
    expect(asked).toMatchObject([[{ rest: 'deep', folder: '/' }], '/']);
    expect((await run([...args, 'oracle:'])).stderr).toContain('echo, oracle:MODEL, ');
  });

  it('is missed where a plugin or a recording is named that it would read', async () => {
    const plugin = await run(['stages', '--no-config', '--plugin', 'acme']);
    expect(plugin.stderr).toContain('plugins are named, and nothing here loads them');
    const recording = await run(['replay', '--no-config', fixture('recording.jsonl')]);
    expect(recording.stderr).toContain('recordings are named, and nothing here reads them');
    expect([plugin.code, recording.code]).toEqual([2, 2]);
  });
});
