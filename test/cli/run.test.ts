import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { CliProcess, fixture, jsonLines, runCli } from './cli.js';

describe('sluice run', () => {
  it('answers each line of a pipe, and tells the way on stderr', async () => {
    const { code, stdout, stderr } = await runCli(['run'], 'hello\nthere\n');
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
    const { stdout, stderr } = await runCli(['run', '--extension', fixture('shout.ts')], 'hi\n');
    expect(stdout).toBe('HI\n');
    expect(stderr).toContain('content changed by shout/capitals');
    expect(stderr).toContain('shout/label  augmenter  annotated');
  });

  it('names who cancelled a reply, which is then not shown', async () => {
    const { code, stdout, stderr } = await runCli(['run', '-e', fixture('hush.ts')], 'hi\n');
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

  it('prints a line of JSON per dispatch with --json, in the order of the way', async () => {
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
      'agent.model.resolving',
      'agent.prompt.building',
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
