import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../cli/cli.js';
import { MessagesApi } from '../../support/messages-api/messages-api.js';
import { says } from '../../support/messages-api/reply.js';
import { claudeEnvironment, describeClaude, sdkFolder, untilNothingRunsIn } from './claude-lab.js';

describeClaude('sluice run --agent claude', () => {
  it('answers each line, with the SDK of the folder that it is started in', async () => {
    await using api = await MessagesApi.start({
      main: [says('Good morning.'), says('Good night.')],
    });
    const home = mkdtempSync(join(tmpdir(), 'sluice-claude-'));
    mkdirSync(join(home, 'tmp'));
    symlinkSync(join(sdkFolder, 'node_modules'), join(home, 'node_modules'));
    const env = claudeEnvironment(home, api.url);
    const args = ['run', '--quiet', '--agent', 'claude:sonnet'];
    const { code, stdout, stderr } = await runCli(args, 'Morning\nEvening\n', { cwd: home, env });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'Good morning.\nGood night.\n',
      stderr: '',
    });
    expect(api.requests.map(({ model }) => model.includes('sonnet'))).toEqual([true, true]);
    await untilNothingRunsIn(home);
    rmSync(home, { recursive: true, force: true });
  });
});
