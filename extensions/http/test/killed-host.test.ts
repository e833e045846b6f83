import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { saying, textOf } from './http-lab.js';

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const soon = { timeout: 120_000, interval: 50 };

/** Starts `sluice run` in a folder. It is killed when it leaves its scope, as by kill -9. */
async function runIn(folder: string) {
  const child: ChildProcess = spawn(
    process.execPath,
    [fileAt('../../../dist/cli/main.js'), 'run'],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const ended = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (data: Buffer) => {
    said += data.toString();
  });
  await vi.waitFor(() => expect(said).toContain('open http://'), soon);
  const url = /open (\S+) in/.exec(said)?.[1] ?? '';
  return {
    ask: (text: string, key: string) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'idempotency-key': key },
        body: JSON.stringify(saying(text)),
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it('a request with an idempotency key is carried on after kill -9, and its answer outlives another (http §5.1, http §5.3)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-http-'));
  const asked = () => readFileSync(join(folder, 'asked.txt'), 'utf8').trim().split('\n');
  try {
    const settings = {
      ...{ agent: 'ext:hanging', channels: ['http'], journal: { path: 'sluice.db' } },
      extensions: [
        { path: fileAt('hanging-agent.mjs') },
        { path: fileAt('../dist/index.js'), config: { port: 0 } },
      ],
    };
    writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify(settings));
    {
      await using first = await runIn(folder);
      const cut = first.ask('hello', 'k-1').catch(() => 'cut');
      await vi.waitFor(() => expect(asked()).toHaveLength(1), soon);
      await first[Symbol.asyncDispose]();
      expect(await cut).toBe('cut');
    }
    {
      await using second = await runIn(folder);
      expect(await textOf(await second.ask('hello', 'k-1'))).toBe('Turn 2.');
      expect((await second.ask('another', 'k-1')).status).toBe(422);
    }
    await using third = await runIn(folder);
    expect(await textOf(await third.ask('hello', 'k-1'))).toBe('Turn 2.');
    expect(await textOf(await third.ask('hello', 'k-2'))).toBe('Turn 3.');
    expect(asked()).toHaveLength(3);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
