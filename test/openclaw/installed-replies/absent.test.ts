import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { TestProject } from 'vitest/node';
import setup from './global-setup.js';

it.each([
  ['true', false],
  ['', true],
])('is skipped where the real one cannot be had, but not in CI: CI=%j', async (ci, isSkipped) => {
  const cache = mkdtempSync(join(tmpdir(), 'sluice-absent-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('PATH', cache); // no npm there
  vi.stubEnv('CI', ci);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const provide = vi.fn<TestProject['provide']>();
  const set = setup({ provide } as unknown as TestProject); // all that it uses
  try {
    if (isSkipped) await set;
    else await expect(set).rejects.toThrow('openclaw@2026.3.13 cannot be installed');
    expect(provide.mock.calls).toEqual(isSkipped ? [['campaign', undefined]] : []);
  } finally {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    rmSync(cache, { recursive: true });
  }
});
