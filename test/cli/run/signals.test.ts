import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHealthServer } from '../../../src/host/index.js';
import { openJournal } from '../../../src/journal/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CliProcess, fixture } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

const args = ['run', '--quiet', '--extension', fixture('until-signal.ts')];

describe('a signal', () => {
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

  it('SIGTERM in the middle of a dispatch closes the journal: it is whole, and nobody holds it (fault 33)', async () => {
    using folder = temporaryFolder({});
    const file = join(folder.path, 'sluice.db');
    const cli = new CliProcess([...args, '--journal', file]);
    cli.child.stdin.write('hi\n');
    await cli.until('waiting');
    cli.child.kill('SIGTERM');
    const { code, stdout } = await cli.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' });
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
    expect(log?.size ?? 0).toBe(0); // all of it is in the file
    const journal = await openJournal(file);
    const [update, ...others] = await journal.updates();
    await journal.close();
    expect(update).toMatchObject({ state: 'ended', outcome: 'answered' });
    expect(others).toEqual([]);
  });

  it('SIGINT stops the answer that is being made and nothing else; the second one ends the host, with 0', async () => {
    const cli = new CliProcess(['run', '--way', '--extension', fixture('until-signal.ts')]);
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
    const cli = new CliProcess(['run', '--way', '--extension', fixture('until-signal.ts')]);
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

  it('SIGTERM waits no longer than the budget of the config: what is not done then is aborted, and told (fault 33)', async () => {
    using folder = temporaryFolder({
      'sluice.config.json': JSON.stringify({
        budgets: { drainTimeoutMs: 50 },
        extensions: [{ path: fixture('until-signal.ts') }],
      }),
    });
    const cli = new CliProcess(['run', '--quiet'], { cwd: folder.path });
    cli.child.stdin.write('forever\n');
    await cli.until('waiting');
    cli.child.kill('SIGTERM');
    const { code, stderr } = await cli.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('1 messages were not done in time and are aborted');
  });
});

describe('a health port of the command line (§20.4)', () => {
  const healthUrl = (stderr: string): string => /health at (\S+)\/healthz/.exec(stderr)?.[1] ?? '';

  it('is ready while the host takes messages, and not while it stops', async () => {
    const cli = new CliProcess([
      'run',
      '--health-port',
      '0',
      '--extension',
      fixture('until-signal.ts'),
    ]);
    await cli.until('/readyz');
    const url = healthUrl(cli.stderr);
    const ready = async (): Promise<number> => (await fetch(`${url}/readyz`)).status;
    cli.child.stdin.write('forever\n');
    await cli.until('waiting');
    expect(await ready()).toBe(200);
    const told = (await (await fetch(`${url}/healthz`)).json()) as Record<string, unknown>;
    expect(told).toMatchObject({
      state: 'running',
      messages: 1,
      extensions: [{ extensionId: 'until-signal', status: 'loaded' }],
    });
    cli.child.kill('SIGTERM');
    await cli.until('got SIGTERM');
    expect(await ready()).toBe(503);
    cli.child.kill('SIGTERM');
    expect((await cli.ended).code).toBe(130);
  });

  it('D1: a host whose channel takes messages in by a route alone stays until it is told to stop (§20.12)', async () => {
    const from = ['--extension', fixture('hook.ts'), '--channel', 'hook'];
    const cli = new CliProcess(['run', ...from, '--health-port', '0']);
    cli.child.stdin.end();
    await cli.until('the process is still there');
    const url = `${healthUrl(cli.stderr)}/hook`;
    const { status } = await fetch(url, { method: 'POST', body: 'coo' });
    expect(status).toBe(202);
    await cli.until('the hook answers coo');
    cli.child.kill('SIGTERM');
    expect((await cli.ended).code).toBe(0);
  });

  it.each([
    [['--health-port', 'http'], 2, '"http" is no health.port: expected number'],
    [['--health-port', '70000'], 2, '"70000" is no health.port: Too big'],
  ])('%j is refused', async (args, code, expected) => {
    const ended = await runInMemory(['run', ...args]);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(expected);
  });

  it('that is taken is refused before anything starts', async () => {
    await using other = await startHealthServer(
      {
        health: () => {
          throw new Error('not asked');
        },
      },
      { port: 0 },
    );
    const { port } = new URL(other.url);
    const ended = await runInMemory(['run', '--quiet', '--health-port', port], 'hello\n');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(
      `unusable-port: the health port cannot listen at 127.0.0.1:${port} (EADDRINUSE)`,
    );
  });
});
