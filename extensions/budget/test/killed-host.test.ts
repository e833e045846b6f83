import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const program = fileAt('../../../dist/cli/main.js');

/** Starts `sluice run` in a folder. It is killed when it leaves its scope. */
function runIn(folder: string) {
  const child = spawn(process.execPath, [program, 'run', '--quiet'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let shown = '';
  child.stdout.on('data', (data: Buffer) => {
    shown += data.toString();
  });
  return {
    say: (text: string) => child.stdin.write(`${text}\n`),
    shown: () => shown,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const soon = { timeout: 120_000, interval: 50 };

it('a run that kill -9 cuts off keeps its reservation, and is charged its estimate when its message runs again (judgement §6.10)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-budget-'));
  try {
    const file = join(folder, 'asked.txt');
    const config = { perPrincipal: { tokens: 10_000 }, estimate: { tokens: 2_000 } };
    const settings = {
      ...{ agent: 'ext:hanging', channels: ['console'], journal: { path: 'sluice.db' } },
      extensions: [
        { path: fileAt('hanging-agent.mjs') },
        { path: fileAt('../dist/index.js'), config },
      ],
    };
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify(settings));
    {
      await using before = runIn(folder);
      before.say('hello');
      await vi.waitFor(() => expect(existsSync(file)).toBe(true), soon);
      before.say('/budget');
      await vi.waitFor(() => expect(before.shown()).toContain('2,000 tokens reserved'), soon);
    }
    await using after = runIn(folder);
    await vi.waitFor(() => expect(after.shown()).toContain('hello\n'), soon);
    after.say('/budget');
    await vi.waitFor(
      () =>
        expect(after.shown()).toContain(
          'You: 2,500 tokens used, 7,500 tokens left of 10,000 tokens (1 run is estimated)',
        ),
      soon,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
