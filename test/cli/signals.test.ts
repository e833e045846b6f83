import { describe, expect, it } from 'vitest';
import { CliProcess, fixture } from './cli.js';

const args = ['run', '--quiet', '--extension', fixture('until-signal.ts')];

describe('a signal', { timeout: 30_000 }, () => {
  it('SIGTERM lets what has begun end, and the exit code is 0 (fault 33)', async () => {
    const cli = new CliProcess(args);
    cli.child.stdin.write('hi\n');
    await cli.until('waiting');
    cli.child.kill('SIGTERM');
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'hi\n',
      stderr: 'waiting\ngot SIGTERM\n',
    });
  });

  it('SIGINT stops the answer that is being made and nothing else; the second one ends the host, with 0', async () => {
    const cli = new CliProcess(['run', '--extension', fixture('until-signal.ts')]);
    cli.child.stdin.write('forever\n');
    await cli.until('waiting');
    cli.child.kill('SIGINT');
    await cli.until('aborted (it was stopped before it was answered)');
    cli.child.stdin.write('/help\n');
    await cli.until('/stop  Stops the answer that is being made.'); // the host has gone on
    cli.child.kill('SIGINT');
    const { code, stdout, stderr } = await cli.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('forever');
    expect(stderr).toContain('aborted (it was stopped before it was answered)');
  });

  it('SIGINT stops each answer anew', async () => {
    const cli = new CliProcess(['run', '--extension', fixture('until-signal.ts')]);
    for (const word of ['forever', 'forever']) {
      const before = cli.count('waiting');
      cli.child.stdin.write(`${word}\n`);
      await cli.untilCount('waiting', before + 1);
      cli.child.kill('SIGINT');
      await cli.untilCount('aborted (', before + 1);
    }
    cli.child.stdin.end();
    expect((await cli.ended).code).toBe(0);
  });

  it('ends the process at once where the host is being stopped already, with 130', async () => {
    const cli = new CliProcess(args);
    cli.child.stdin.write('forever\n');
    await cli.until('waiting');
    cli.child.kill('SIGTERM');
    await cli.until('got SIGTERM');
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
