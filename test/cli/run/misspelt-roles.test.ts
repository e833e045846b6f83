import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runInMemory } from '../memory-shell.js';

describe('a role in the config of sluice run (judgement §1.6)', () => {
  const run = async (entry: string) => {
    using folder = temporaryFolder({
      'sluice.config.json': JSON.stringify({ roles: { admin: [entry] } }),
    });
    return await runInMemory(['run', '--quiet'], 'hi\n', { cwd: folder.path });
  };

  it('whose channel is misspelt is refused before anything starts', async () => {
    const { code, stdout, stderr } = await run('consle:local');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      'bad-config: roles.admin has "consle:local", and there is no channel "consle". Did you mean "console"?',
    );
  });

  it.each(['console:local', 'telegram:42'])(
    'may name %s: the channel is there, or may be that of another host',
    async (entry) => {
      expect(await run(entry)).toMatchObject({ code: 0, stdout: 'hi\n' });
    },
  );
});
