import { describe, expect, it } from 'vitest';
import { agentChoice } from '../../../src/cli/settings/agent-choice.js';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary-folder.js';
import { fixture, runCli } from '../cli.js';

const parrot = ['--extension', fixture('parrot.ts')];

/** A folder with a config file with these settings. */
function configured(settings: object): TemporaryFolder {
  const extensions = [{ path: fixture('parrot.ts') }];
  return temporaryFolder({ 'sluice.config.json': JSON.stringify({ extensions, ...settings }) });
}

describe('an agent that an extension provides is chosen like a built-in one (§13.5)', () => {
  it.each(['parrot', 'ext:parrot'])('%s is a choice', (name) => {
    expect(agentChoice(name, '/', [])).toEqual({ kind: 'provided', agentId: 'parrot' });
  });

  it('by --agent', async () => {
    const args = ['run', '--quiet', '--agent', 'parrot', ...parrot];
    expect(await runCli(args, 'hi\n')).toEqual({ code: 0, stdout: 'squawk\n', stderr: '' });
  });

  it.each([
    ['defaultAgent', { defaultAgent: 'parrot' }],
    ['agents', { agents: [{ id: 'main', provider: 'ext:parrot', systemPrompt: 'Be loud.' }] }],
  ])('by %s of the config', async (_, settings) => {
    using folder = configured(settings);
    const surroundings = { cwd: folder.path };
    expect(await runCli(['run', '--quiet'], 'hi\n', surroundings)).toEqual({
      code: 0,
      stdout: 'squawk\n',
      stderr: '',
    });
  });

  it('and --agent wins over a default that an extension provides', async () => {
    using folder = configured({ defaultAgent: 'parrot' });
    const args = ['run', '--quiet', '--agent', 'echo'];
    const { stdout } = await runCli(args, 'hi\n', { cwd: folder.path });
    expect(stdout).toBe('hi\n');
  });

  it.each([['defaultAgent', [], { defaultAgent: 'parot' }]])(
    'and a name that nobody has is refused, with the nearest: by %s',
    async (_, args, settings) => {
      using folder = configured(settings);
      const { code, stderr } = await runCli(['run', '--quiet', ...args], 'hi\n', {
        cwd: folder.path,
      });
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /^sluice: bad-arguments: there is no agent "parot"\. Did you mean "parrot"\?/,
      );
    },
  );

  it('doctor sees it', async () => {
    const { code, stdout } = await runCli(['doctor', '--json', '--agent', 'parrot', ...parrot]);
    expect(code).toBe(0);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    const what = 'answered by "parrot", a turn takes 5000 ms at most';
    const found = findings.filter((one) => Object(one).what === what);
    expect(found).toHaveLength(2); // as `main`, and by its own id
  });
});
