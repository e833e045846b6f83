import { describe, expect, it } from 'vitest';
import type { AgentEventPayload, ChatEvent } from '../../../src/openclaw/gateway/index.js';
import { gatewayLab } from '../../support/gateway-lab.js';
import { until } from '../../support/gateway-server.js';

const register = (lab: Awaited<ReturnType<typeof gatewayLab>>, runId = 'r-1') => {
  const events: AgentEventPayload[] = [];
  const chats: ChatEvent[] = [];
  lab.client.registerAgentAccumulation(runId, (event) => void events.push(event));
  lab.client.registerChatAccumulation(runId, (event) => void chats.push(event));
  return { events, chats };
};

describe('a run whose connection is lost (stream §2.6; fault 42; defect: it hung)', () => {
  it('goes on where the connection comes back, and the next snapshot has what was missed', async () => {
    await using lab = await gatewayLab();
    const { events } = register(lab);
    lab.server.agent('r-1', 'assistant', { text: 'a' });
    await until(() => events.length === 1);
    lab.server.drop();
    await until(() => lab.client.state === 'waiting');
    lab.server.skip('r-1', 3);
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
    lab.server.agent('r-1', 'assistant', { text: 'abcde' });
    await until(() => events.length === 2);
    await lab.clock.advance(60_000);
    expect(events.map(({ data }) => data.text)).toEqual(['a', 'abcde']);
    expect(lab.client.stats()).toMatchObject({ seqGaps: 1, agentRuns: 1, connections: 2 });
  });

  it('ends with a clear error after the window, in both maps, and is no longer registered', async () => {
    await using lab = await gatewayLab();
    const { events, chats } = register(lab);
    const { port } = lab.server;
    await lab.server.down();
    await until(() => lab.client.state === 'waiting');
    await lab.clock.advance(29_999);
    expect(events).toEqual([]);
    await lab.clock.advance(1);
    expect(events).toMatchObject([
      {
        ...{ runId: 'r-1', seq: 0, stream: 'error' },
        data: {
          reason: 'gateway-disconnected',
          error: 'the gateway was not connected for 30000 ms',
        },
      },
    ]);
    expect(chats).toMatchObject([{ runId: 'r-1', state: 'error' }]);
    expect(lab.client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 0 });
    await lab.server.up(port);
    await lab.clock.advance(15_000);
    await until(() => lab.client.state === 'connected');
    expect(events).toHaveLength(1);
  });

  it('ends at once where the gateway has begun anew meanwhile', async () => {
    await using lab = await gatewayLab();
    const { events } = register(lab);
    lab.server.options = { ...lab.server.options, hello: { snapshot: { uptimeMs: 200 } } };
    lab.server.drop();
    await until(() => lab.client.state === 'waiting');
    await lab.clock.advance(800);
    await until(() => lab.client.state === 'connected');
    expect(events).toMatchObject([{ data: { reason: 'gateway-restarted' } }]);
    expect(lab.client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 0 });
  });

  it('ends when the client is stopped', async () => {
    await using lab = await gatewayLab();
    const { events, chats } = register(lab);
    await lab.client.stop();
    expect(events).toMatchObject([{ seq: 0, data: { reason: 'client-stopped' } }]);
    expect(chats).toHaveLength(1);
    await lab.client.stop();
    expect(events).toHaveLength(1);
    await until(() => lab.clock.pending === 0);
  });
});
