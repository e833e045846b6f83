import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { cliProgram } from '../../support/compiled.js';
import { CliProcess, fixture } from '../cli.js';

const lines = 10_000;

interface Run {
  readonly child: ChildProcess;
  readonly healthUrl: string;
  readonly exit: Promise<unknown[]>;
  /** The output so far. */
  replies(): number;
}

/** A host with an agent that answers at once, fed by a pipe. */
async function piped(input: Buffer): Promise<Run> {
  const args = [cliProgram, 'run', '--quiet', '--health-port', '0'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let replies = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) replies++;
  });
  let told = '';
  const healthUrl = new Promise<string>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => {
      told += String(chunk);
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(told) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
  const exit = once(child, 'exit');
  child.stdin.on('error', () => undefined); // it ends before it has read all
  child.stdin.write(input); // and stays open: the input has no end
  return { child, healthUrl: await healthUrl, exit, replies: () => replies };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const text = Buffer.from(Array.from({ length: lines }, (_, at) => `line ${at}\n`).join(''));
const binary = Buffer.from(Uint8Array.from({ length: 400_000 }, (_, at) => (at * 31 + 7) % 256));

describe('B1: a console that is fed by a pipe', () => {
  it.each([
    ['lines', text],
    ['binary input', binary],
  ])(
    'answers its health port and ends on SIGTERM before the input is through: %s (durability §8.7)',
    async (_, input) => {
      const run = await piped(input);
      await until(() => run.replies() > 0);
      const response = await fetch(`${run.healthUrl}/healthz`);
      expect(response.status).toBe(200);
      const answered = run.replies();
      run.child.kill('SIGTERM');
      expect(await run.exit).toEqual([0, null]);
      if (input === text) {
        expect(answered).toBeLessThan(lines);
        expect(run.replies()).toBeLessThan(lines);
      }
    },
  );

  it('ends at once on a second signal, with 130, while a turn hangs and thousands of lines wait (§20.4)', async () => {
    const cli = new CliProcess(['run', '--quiet', '--extension', fixture('hangs.ts')]);
    cli.child.stdin.write(text.toString().replace('line 500\n', 'forever\n'));
    await cli.until('waiting');
    cli.child.kill('SIGTERM');
    await cli.until('got SIGTERM'); // two signals that wait together come in an order of the system's
    cli.child.kill('SIGTERM');
    const { code, stdout } = await cli.ended;
    expect(code).toBe(130);
    expect(stdout.split('\n')).toHaveLength(501); // what came before, and nothing after
  });
});
