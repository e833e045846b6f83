import { describe, expect, it } from 'vitest';
import { said } from '../support/slack-api/envelopes.js';
import { slackServer } from '../support/slack-api/slack-server.js';
import { CliProcess, runCli } from './cli.js';

describe('sluice run --channel slack', () => {
  it('needs nothing but two tokens: it says its name, answers, and ends cleanly', async () => {
    await using server = await slackServer();
    const { botToken, appToken } = server.app;
    const cli = new CliProcess(['run', '--way', '--channel', 'slack', '--api-root', server.url], {
      env: { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken },
    });
    await cli.until('@sluice takes messages');
    await cli.until('anyone in the workspace may write to @sluice');
    server.give(said(1, 'hello'));
    await cli.until('egress.sent');
    cli.child.kill('SIGTERM');
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).not.toContain('test-token');
    expect(server.shown).toMatchObject([{ text: 'hello' }]);
    expect(server.acknowledged).toEqual([1]);
  }, 300_000);

  it('without a token says what to do', async () => {
    const { code, stderr } = await runCli(['run', '--channel', 'slack'], '', { env: {} });
    expect(code).toBe(1);
    expect(stderr).toContain('SLACK_BOT_TOKEN is not set');
  }, 300_000);
});
