import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { kernelAnywhere } from '../support/kernel-anywhere.js';
import { runtimes } from '../support/runtimes.js';

/** One cell by default, and all of them in `.ci/run --long`. */
const cells = process.env['KERNEL_RUNTIMES'] === 'all' ? Object.keys(runtimes) : ['a bare realm'];

describe('the built kernel (§2.8)', () => {
  it('answers each misuse of a public function with a code and a hint', async () => {
    const { misuses } = JSON.parse(await kernelAnywhere()) as {
      readonly misuses: readonly { of: string; code?: string; hint: boolean }[];
    };
    expect(misuses.length).toBeGreaterThan(25);
    const silent = misuses.filter(
      ({ code, hint }) => !hint || !/^[a-z]+(-[a-z]+)+$/.test(code ?? ''),
    );
    expect(silent).toEqual([]);
  });

  it.each(cells)('does in %s what its source does', async (name) => {
    const told = await runtimes[name]?.();
    expect(JSON.parse(told ?? '')).toEqual(JSON.parse(await kernelAnywhere()));
  });
});
