import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('./fixtures/bridge-process.ts', import.meta.url));

describe('the plugin-hook bridge in a process of its own', () => {
  it('leaves no rejection unhandled, and keeps nothing of an unloaded plugin', async () => {
    const { stdout } = await run(process.execPath, ['--expose-gc', await compiled(fixture)], {
      env: { PATH: process.env.PATH ?? '' },
      timeout: 250_000,
    });
    expect(JSON.parse(stdout)).toEqual({ escaped: [], kept: [false, false, false, false] });
  });
});
