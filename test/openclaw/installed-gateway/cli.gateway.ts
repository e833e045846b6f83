import { expect, it } from 'vitest';
import { runCli } from '../../cli/cli.js';
import { says } from '../../support/messages-api/reply.js';
import { describeGateway, GatewayLab } from './gateway-lab.js';

describeGateway('sluice run --agent openclaw', () => {
  it('chats through a gateway, with the token of the environment', async () => {
    await using lab = await GatewayLab.open({
      main: [says('Good morning.'), says('Good night.')],
    });
    const { url, token, folder } = lab.gateway;
    const args = ['run', '--quiet', '--no-config', '--agent', 'openclaw', '--url', url];
    const env = { HOME: folder, OPENCLAW_GATEWAY_TOKEN: token };
    const { code, stdout, stderr } = await runCli(args, 'Morning\nEvening\n', { env });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'Good morning.\nGood night.\n',
      stderr: '',
    });
  });

  it('does not start with a wrong token, and does not say it', async () => {
    await using lab = await GatewayLab.open({ main: [] });
    const { url, folder } = lab.gateway;
    const args = ['run', '--quiet', '--no-config', '--agent', 'openclaw', '--url', url];
    const env = { HOME: folder, OPENCLAW_GATEWAY_TOKEN: 'not-the-right-token' };
    const { code, stdout, stderr } = await runCli(args, 'Morning\n', { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('gateway-unreachable');
    expect(stderr).not.toContain('not-the-right-token');
  });
});
