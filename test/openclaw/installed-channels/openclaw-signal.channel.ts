import { describe, expect, inject, it } from 'vitest';
import { laterLab } from './later/later-lab.js';
import { signalStandIn } from './signal-server.js';

const openclaw = inject('openClawWithChannels');

describe.skipIf(openclaw === undefined)('the unmodified signal of OpenClaw 2026.9', () => {
  it('takes an event in, judges its sender by OpenClaw’s own rules, and answers by a request (event-pipeline §17.35)', async () => {
    await using daemon = await signalStandIn();
    await using lab = await laterLab('@openclaw/signal@2026.9.6', {
      channels: { signal: daemon.account },
    });
    const host = await lab.begin();
    const stream = await daemon.listening;
    daemon.bring(stream, '+15550000003', 'let me in', 1);
    daemon.bring(stream, '+15550000002', 'hello', 2);
    expect(await host.heard('end')).toMatchObject({ status: 'answered', texts: ['hello'] });
    expect(daemon.sent).toMatchObject([{ message: 'hello', recipient: ['+15550000002'] }]);
  });
});
