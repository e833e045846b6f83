import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../support/folder.js';
import { runInMemory } from '../memory-shell.js';

/** A folder with an extension that writes each reply large. */
function folder(): string {
  const cwd = testFolder();
  writeFileSync(
    join(cwd, 'loud.mjs'),
    `export default { kind: 'sluice-extension', id: 'loud-voice', manifest: {}, setup(api) {
      api.mutate('egress.preparing', 'loud', ({ payload }) => ({ content: payload.content.toUpperCase() }));
    } };`,
  );
  return cwd;
}

const run = (cwd: string, ...args: string[]) =>
  runInMemory(['run', '--quiet', '-e', './loud.mjs', ...args], 'hello\n', { cwd });

describe('sluice run --audit', () => {
  it('calls the handlers of an extension without effect, as the setting does (judgement §3.7)', async () => {
    const cwd = folder();
    expect((await run(cwd)).stdout).toBe('HELLO\n');
    expect(await run(cwd, '--audit', 'loud-voice')).toMatchObject({ code: 0, stdout: 'hello\n' });
    writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ audit: ['loud-voice'] }));
    expect(await run(cwd)).toMatchObject({ code: 0, stdout: 'hello\n' });
  });

  it('starts nothing if no extension has the name, and says the nearest (judgement §3.7)', async () => {
    const { code, stdout, stderr } = await run(folder(), '--audit', 'loud-vioce');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('audit "loud-vioce" names no extension that is loaded');
    expect(stderr).toContain('such as "loud-voice"');
    expect(stderr).toContain('nothing was started');
  });
});
