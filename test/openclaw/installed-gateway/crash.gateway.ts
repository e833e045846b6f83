import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { OpenClawAgentProvider } from '../../../src/openclaw/gateway/index.js';
import type { StreamDelta } from '../../../src/sdk/stream/index.js';
import { says, stalls } from '../../support/messages-api/reply.js';
import { describeGateway, GatewayLab, hearRun, triggerOf } from './gateway-lab.js';

describeGateway('a real gateway that crashes (stream §2.5, §2.6)', () => {
  it('is found again when it is back: the runs that it lost have ended with one error each, and the next ones are answered', async () => {
    await using lab = await GatewayLab.open({
      main: [],
      lanes: {
        'told by the client': [stalls('This will not come to its end', 2)],
        'told by the agent': [stalls('This will not come to its end', 2)],
        'after the crash': [says('Here again.')],
        'and once more': [says('Still here.')],
      },
    });
    const client = await lab.client({ resumeWindowMs: 500, reconnect: { firstDelayMs: 50 } });
    await client.ready();
    const provider = new OpenClawAgentProvider({ client, agentId: 'main' });
    const lost = await sends('told by the client');
    await lost.agentEvent(({ stream }) => stream === 'assistant');
    const deltas: StreamDelta[] = [];
    for await (const delta of provider.triggerStream(triggerOf('told by the agent'))) {
      deltas.push(delta);
      if (delta.phase === 'content' && deltas.length === 1) await lab.gateway.kill();
    }
    expect(deltas.at(-1)).toMatchObject({ phase: 'error' });
    expect(deltas.filter(({ phase }) => phase === 'error')).toHaveLength(1);
    const end = await lost.agentEvent(({ stream }) => stream === 'error');
    expect(end).toMatchObject({ seq: 0, stream: 'error' });
    expect(client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 0, pendingRequests: 0 });

    await lab.gateway.start();
    await client.ready();
    const next = await sends('after the crash');
    expect(await next.ended).toMatchObject({ state: 'final', text: 'Here again.' });
    expect(lost.agent.filter(({ stream }) => stream === 'error')).toHaveLength(1);
    const answer = await provider.trigger(triggerOf('and once more'));
    expect(answer).toMatchObject({ status: 'answered', parts: ['Still here.'] });

    async function sends(message: string) {
      const runId = `run-${randomUUID()}`;
      const heard = hearRun(client, runId);
      const sessionKey = `agent:main:${randomUUID()}`;
      await client.requestRun('chat.send', { sessionKey, message, idempotencyKey: runId });
      return heard;
    }
  });
});
