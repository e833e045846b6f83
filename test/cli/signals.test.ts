import { describe, expect, it } from 'vitest';
import { CliProcess, fixture } from './cli.js';

const args = ['run', '--quiet', '--extension', fixture('until-signal.ts')];

describe('a signal', { timeout: 30_000 }, () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s lets what has begun end, and the exit code is 0 (fault 33)',
    async (signal) => {
      const cli = new CliProcess(args);
      cli.child.stdin.write('hi\n');
      await cli.until('waiting');
      cli.child.kill(signal);
      const { code, stdout, stderr } = await cli.ended;
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'hi\n',
        stderr: `waiting\ngot ${signal}\n`,
      });
    },
  );

  it('ends the process at once where it is the second, with 130', async () => {
    const cli = new CliProcess(args);
    cli.child.stdin.write('forever\n');
    await cli.until('waiting');
    cli.child.kill('SIGINT');
    await cli.until('got SIGINT');
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  });

  it('ends a host that waits for input', async () => {
    const cli = new CliProcess(['run', '--json']);
    await cli.until('gateway.started');
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('"family":"runtime.stopping"');
    expect(stdout).toContain('"reason":"SIGINT"');
  });
});
