import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('./fixtures/stray.ts', import.meta.url));

interface Found {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly stray: number;
  readonly quarantined: readonly string[];
}

describe('what a handler does besides answering, in a process of its own (§13.11)', () => {
  it('faults 4 and 5: strays are laid at its door, blocking is named, and the process lives', {
    timeout: 300_000,
  }, async () => {
    const { stdout } = await run(process.execPath, [await compiled(fixture)], {
      env: { PATH: process.env['PATH'] ?? '' },
      timeout: 280_000,
    }); // rejects on any exit code but 0
    const found = JSON.parse(stdout) as Found;
    expect(found.errors).toEqual([
      'acme: a promise was rejected, and nobody handled it',
      'acme/strays: a promise was rejected, and nobody handled it',
      'acme/strays: a promise was rejected, and nobody handled it',
      'acme/throws: it threw outside of a dispatch, and nobody handled it',
    ]);
    expect(found).toMatchObject({ stray: 4, quarantined: ['strays'] });
    expect(found.warnings).toContainEqual(
      expect.stringMatching(/^acme\/blocks on "gateway.started" blocked everything for \d{4,} ms$/),
    );
    expect(found.warnings).toContainEqual(
      expect.stringMatching(
        /^everything was blocked for \d+ ms; handlers that had not settled: acme\/blocks-later$/,
      ),
    );
  });
});
