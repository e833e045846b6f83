import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('./fixtures/late-settlers.ts', import.meta.url));

describe('fault 3: late results in a process of their own', () => {
  it('exit code 0, and no unhandled rejection (§5.6)', async () => {
    const { stdout, stderr } = await run(
      process.execPath,
      ['--unhandled-rejections=strict', await compiled(fixture)],
      { env: { PATH: process.env['PATH'] ?? '' }, timeout: 250_000 },
    ); // rejects on any other exit code
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      kinds: Array.from({ length: 8 }, () => 'timed-out'),
      late: 8,
      stillRunning: 0,
      escaped: [],
    });
  });
});
