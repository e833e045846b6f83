import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { resultText } from '../../src/agent/tool-calls.js';
import type { SendResult } from '../../src/channel/index.js';
import { createHost } from '../../src/host/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

describe('what went wrong once', () => {
  it.each([
    { status: 'ok' },
    { status: 'retry-after', retryAfterMs: Number.NaN },
    { status: 'retry-after', retryAfterMs: -1 },
    'sent',
  ])(
    'an answer that is none was taken as leave to send again, for ever: %o (§14.3)',
    async (answer) => {
      let sends = 0;
      const channel = scriptedChannel({
        send: async (permit) => {
          permit.take();
          sends++;
          return answer as unknown as SendResult;
        },
      });
      await using lab = await hostLab({ channel });
      await lab.say('hello');
      expect(sends).toBe(lab.of('egress.preparing').length);
      expect(lab.of('egress.failed')).toHaveLength(sends);
    },
  );

  it('a message went out although it was aborted while egress.sending was dispatched (§14.4)', async () => {
    const channel = scriptedChannel();
    const controller = new AbortController();
    await using lab = await hostLab({
      channel,
      contribute: (kernel) =>
        void kernel.contribute({
          family: 'egress.sending',
          class: 'observer',
          extensionId: 'test',
          id: 'stop',
          handler: () => controller.abort(),
        }),
    });
    const { signal } = controller;
    const report = await lab.host.send({
      channel: 'scripted',
      accountId: 'default',
      to: 'ada',
      content: 'too late',
      signal,
    });
    expect(report.status).toBe('failed');
    expect(channel.sent).toEqual([]);
    expect(lab.of('egress.failed')).toHaveLength(1);
  });

  it('a host whose start failed early never stopped', async () => {
    const { kernel } = createTestKernel();
    const options = { kernel, agents: [{ id: 'main', provider: echoProvider() }] };
    const first = createHost({ ...options, channels: [scriptedChannel()] });
    await first.start();
    const second = createHost({ ...options, channels: [scriptedChannel()] });
    await expect(second.start()).rejects.toMatchObject({ code: 'duplicate-contribution' });
    await second.stop();
    await expect(second.stopped).resolves.toMatchObject({ drained: true });
    expect(second.state).toBe('stopped');
    await first.stop();
  });

  it('a tool result that JSON cannot hold ended the turn', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(resultText({ n: 1n })).toBe('{"n":"1"}');
    expect(resultText(cyclic)).toMatch(/cannot be written/);
  });
});
