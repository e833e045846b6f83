import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CliProcess, fixture, jsonLines, root, runCli } from '../cli.js';

describe('sluice run', () => {
  it('tells no way of a message if nobody looks at a terminal', async () => {
    const ended = await runCli(['run'], 'hello\nthere\n');
    expect(ended).toEqual({ code: 0, stdout: 'hello\nthere\n', stderr: '' });
  });

  it('answers each line of a pipe, and tells its way on stderr with --way', async () => {
    const { code, stdout, stderr } = await runCli(['run', '--way'], 'hello\nthere\n');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello\nthere\n' });
    expect(stderr.match(/ingress\.received/g)).toHaveLength(2);
    expect(stderr.match(/^ {2}answered, \d+ dispatches, .* ms$/gm)).toHaveLength(2);
    expect(stderr).not.toContain('\u001b');
  });

  it('prints exactly the reply with --quiet', async () => {
    expect(await runCli(['run', '--quiet'], 'hi\n')).toEqual({
      code: 0,
      stdout: 'hi\n',
      stderr: '',
    });
  });

  it('names who changed what', async () => {
    const { stdout, stderr } = await runCli(
      ['run', '--way', '--extension', fixture('shout.ts')],
      'hi\n',
    );
    expect(stdout).toBe('HI\n');
    expect(stderr).toContain('content changed by shout/capitals');
    expect(stderr).toContain('shout/label  augmenter  annotated');
  });

  it('names who cancelled a reply, which is then not shown', async () => {
    const { code, stdout, stderr } = await runCli(
      ['run', '--way', '-e', fixture('hush.ts')],
      'hi\n',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('egress.preparing cancelled by hush/all: quiet-hours, "until 07:00"');
    expect(stderr).toContain('egress.cancelled');
  });

  it('runs on the channel of an extension alone with --channel (§13.5)', async () => {
    const args = ['run', '--quiet', '--channel', 'pigeon', '--extension', fixture('pigeon.ts')];
    const { code, stdout, stderr } = await runCli(args, 'nobody reads this\n');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('pigeon carries coo\n');
  });

  it('prints a line of JSON per dispatch with --json, in the order of the timeline', async () => {
    const { code, stdout, stderr } = await runCli(['run', '--json'], 'hi\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = jsonLines<{ status: string; event: { family: string } }>(stdout);
    const families = lines.map(({ event }) => event.family);
    expect(families[0]).toBe('command.received');
    expect(families.at(-1)).toBe('command.completed');
    const way = families.slice(
      families.indexOf('ingress.received'),
      families.indexOf('egress.sent') + 1,
    );
    expect(way.filter((family, at) => family !== way[at - 1])).toEqual([
      'ingress.received',
      'ingress.normalized',
      'routing.resolving',
      'routing.resolved',
      'session.starting',
      'session.started',
      'agent.starting',
      'agent.answer.resolving',
      'agent.model.resolving',
      'agent.prompt.building',
      'agent.llm.calling',
      'agent.llm.input',
      'transcript.message.writing',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.tool.calling',
      'agent.tool.called',
      'transcript.tool-result.persisting',
      'transcript.message.writing',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.completed',
      'agent.llm.output',
      'egress.preparing',
      'egress.sending',
      'egress.sent',
    ]);
    expect(new Set(lines.map(({ status }) => status))).toEqual(new Set(['passed']));
  });

  it('reads a config file, with paths from where it is', async () => {
    const args = ['run', '--quiet', '--config', fixture('good.config.json')];
    expect(await runCli(args, 'hi\n')).toEqual({ code: 0, stdout: 'HI\n', stderr: '' });
  });

  it('answers with a recording', async () => {
    const args = ['run', '--quiet', '--agent', `replay:${fixture('recording.jsonl')}`];
    expect((await runCli(args, 'what does it say?\n')).stdout).toBe('It says hello.\n');
  });

  it('shows what tools do with --verbose on, and what they answer with full', async () => {
    const shown = async (...more: string[]) =>
      (await runCli(['run', '--quiet', ...more], 'hi there\n')).stdout;
    expect(await shown('--verbose', 'off')).toBe('hi there\n');
    const on = (await shown('--verbose', 'on')).trimEnd().split('\n');
    expect(on).toHaveLength(2);
    expect(on[0]).toMatch(/echo/i);
    expect(on[1]).toBe('hi there');
    const full = await shown('--verbose', 'full');
    expect(full.match(/hi there/g)).toHaveLength(2); // what the tool said, and the reply
  });

  it('shows the reasoning of the model with --reasoning on, and with stream', async () => {
    for (const mode of ['on', 'stream']) {
      const { stdout } = await runCli(['run', '--quiet', '--reasoning', mode], 'hi\n');
      expect(stdout).toContain('I repeat what I was asked.');
      expect(stdout.trimEnd().endsWith('hi')).toBe(true);
    }
    expect((await runCli(['run', '--quiet'], 'hi\n')).stdout).toBe('hi\n');
  });

  it.each(['--verbose', '--reasoning'])(
    'names the values of %s where it gets another',
    async (option) => {
      const { code, stderr } = await runCli(['run', option, 'loud'], '');
      expect(code).toBe(2);
      expect(stderr).toMatch(/loud.*Allowed choices are off, on, (full|stream)/);
    },
  );

  it('leaves a broken extension out, names it in one line, and fails in the end', async () => {
    const args = ['run', '--quiet', '-e', fixture('broken.ts'), '-e', fixture('shout.ts')];
    const { code, stdout, stderr } = await runCli(args, 'hi\n');
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'HI\n' });
    expect(stderr).toMatch(
      /^sluice: module-failed: .*broken\.ts.*this extension cannot be imported.*\n$/,
    );
  });

  it('tells once of an extension whose setup fails', async () => {
    const args = ['run', '--quiet', '-e', fixture('refusing.ts')];
    const { code, stdout, stderr } = await runCli(args, 'hi\n');
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'hi\n' });
    expect(stderr).toMatch(/^sluice: setup-failed: refusing: .*no key given.*\n$/);
  });

  it('names file and line of what an extension throws, and how to see more', async () => {
    const { stderr } = await runCli(['run', '--quiet', '-e', fixture('refusing.ts')], 'hi\n');
    expect(stderr).toMatch(
      / It was at .*\/fixtures\/refusing\.ts:\d+:\d+\. .* --debug shows its stack\.\n$/,
    );
  });

  it.each([
    [
      'an id with a space',
      `import { defineExtension } from 'sluice'; export default defineExtension({ id: 'my ext', setup() {} });`,
      /^sluice: bad-extension: Extension "my ext" is not well formed: its id must be a name without spaces.*one\.mjs:1:\d+/,
    ],
    [
      'a mistake in its syntax',
      'const a = 1;\nconst b = ;\nexport default a;\n',
      /^sluice: module-failed: .*one\.mjs could not be imported: SyntaxError: Unexpected token ';' \(line 2\)\. Fix/,
    ],
    [
      'a function, as plugins export one',
      'export default (api) => {};',
      /^sluice: no-extension: .*it is a function; if it is a plugin, load its folder with --plugin/,
    ],
    [
      'a config that is missing',
      `export default { kind: 'sluice-extension', id: 'one', setup() {}, config: { '~standard': { version: 1, vendor: 'test',
        validate: () => ({ issues: [{ message: 'is required', path: ['url'] }] }) } } };`,
      /^sluice: bad-config: one: .*url.*In a config file that is: "extensions": \[\{ "path": .*"config"/,
    ],
  ])('says what is wrong with an extension that has %s', async (_, text, expected) => {
    using folder = temporaryFolder({ 'one.mjs': text });
    mkdirSync(join(folder.path, 'node_modules'));
    symlinkSync(root, join(folder.path, 'node_modules/sluice')); // as an install puts it there
    const { code, stderr } = await runCli(
      ['run', '--quiet', '--no-config', '-e', join(folder.path, 'one.mjs')],
      'hi\n',
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(expected);
  });

  it('names the grant to write, where a patch sets a trusted field without it', async () => {
    using folder = temporaryFolder({
      'one.mjs': `export default { kind: 'sluice-extension', id: 'one', setup(api) {
        api.mutate('agent.prompt.building', 'x', () => ({ systemPrompt: 'mine' })); } };`,
    });
    const args = ['run', '--json', '--no-config', '-e', join(folder.path, 'one.mjs')];
    const { stdout } = await runCli(args, 'hi\n');
    expect(stdout).toContain(
      String.raw`write \"grants\": {\"one\":[\"agent.prompt.building:systemPrompt\"]} in the config`,
    );
  });

  it('starts nothing where an extension that is required cannot be loaded, and says which', async () => {
    using folder = temporaryFolder({
      'guard.mjs': `export default { kind: 'sluice-extension', id: 'guard', setup() { throw new Error('no key'); } };`,
      'sluice.config.json': JSON.stringify({
        extensions: [{ path: './guard.mjs', required: true }],
      }),
    });
    const config = join(folder.path, 'sluice.config.json');
    const { code, stdout, stderr } = await runCli(['run', '-q', '--config', config], 'hi\n');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('sluice: setup-failed: guard');
    expect(stderr).toMatch(/nothing was started: ".*guard\.mjs" is required/);
  });

  it('B4: says once that the host runs on, where the console has ended and another channel has not', async () => {
    using folder = temporaryFolder({
      'open.mjs': `export default { kind: 'sluice-extension', id: 'open', setup(api) {
        api.provide('channel', { id: 'open', capabilities: {}, accounts: ['a'],
          resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
          startAccount: async () => { globalThis.open = setInterval(() => {}, 1000); },
          stopAccount: async () => clearInterval(globalThis.open), decodeIngress: () => ({ kind: 'ignored', reason: '' }),
          send: async () => ({ status: 'rejected', reason: 'no' }) }); } };`,
    });
    const cli = new CliProcess(['run', '--no-config', '-e', join(folder.path, 'open.mjs')]);
    cli.child.stdin.end('hi\n');
    await cli.until('the host runs on for open');
    cli.child.kill('SIGTERM');
    const { code, stderr } = await cli.ended;
    expect(code).toBe(0);
    expect(stderr.match(/runs on/g)).toHaveLength(1);
  });

  it('B4: says why a journal cannot be made, in words and about the file that was named', async () => {
    using folder = temporaryFolder({ 'file.txt': '' });
    for (const [path, why] of [
      [join(folder.path, 'none/j.db'), `there is no folder ${join(folder.path, 'none')}.`],
      ['/proc/j.db', 'no file can be made in /proc.'],
      [folder.path, 'it is a folder'],
      [join(folder.path, 'file.txt/j.db'), `${join(folder.path, 'file.txt')} is not a folder`],
    ] as const) {
      const { code, stderr } = await runCli(['run', '-q', '--journal', path], '');
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(
        `sluice: database-not-opened: Database ${path} cannot be opened: ${why}`,
      );
    }
  });

  it('is itself a command that extensions may audit', async () => {
    const { stderr } = await runCli(['run', '-q', '-e', fixture('audit.ts')], 'hi\n');
    expect(stderr).toBe(`began cli run -q -e ${fixture('audit.ts')}\nended run 0\n`);
  });

  it('ends quietly when nobody reads its output any more', async () => {
    const cli = new CliProcess(['run', '--quiet']);
    Readable.from(endless()).pipe(cli.child.stdin);
    await cli.until('line 1');
    cli.child.stdout.destroy();
    const { code, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

function* endless(): Generator<string> {
  for (let number = 1; ; number++) yield `line ${number}\n`;
}
