import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('./fixtures/reloads.ts', import.meta.url));

/** Node keeps the code of each version, some 17 KiB here; twice that is the bound. */
const boundKiB = 500 * 34;

describe('fault 28: 500 reloads in a process of their own (§13.9)', () => {
  it('leave no handler, timer, listener, provision or closure behind', {
    timeout: 300_000,
  }, async () => {
    const { stdout } = await run(process.execPath, ['--expose-gc', await compiled(fixture)], {
      env: { PATH: process.env['PATH'] ?? '' },
      timeout: 280_000,
    });
    const { grownKiB, ...rest } = JSON.parse(stdout) as { readonly grownKiB: number };
    expect(rest).toEqual({
      results: ['reloaded'],
      live: { handlers: 2, listeners: 1, provided: 1, retained: 3 },
      left: { handlers: 0, listeners: 0, timers: 0, retained: 0 },
    });
    expect(grownKiB).toBeLessThan(boundKiB);
  });
});
