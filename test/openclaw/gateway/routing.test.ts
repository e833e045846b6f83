import { describe, expect, it } from 'vitest';
import type {
  AgentEventPayload,
  ChatEvent,
  OtherAgentEvent,
} from '../../../src/openclaw/gateway/index.js';
import { gatewayLab } from '../../support/gateway-lab.js';
import { until } from '../../support/gateway-server.js';

const collect = () => {
  const events: AgentEventPayload[] = [];
  return { events, callback: (event: AgentEventPayload) => void events.push(event) };
};

describe('agent events', () => {
  it('go to the callback of their run, in order (stream §3.1; seed 003, task 1.2)', async () => {
    await using lab = await gatewayLab();
    const one = collect();
    const two = collect();
    lab.client.registerAgentAccumulation('r-1', one.callback);
    lab.client.registerAgentAccumulation('r-2', two.callback);
    lab.server.agent('r-1', 'thinking', { text: 'hm', delta: 'hm' });
    lab.server.agent('r-2', 'assistant', { text: 'no', delta: 'no' });
    lab.server.agent('r-1', 'assistant', { text: 'yes', delta: 'yes' });
    lab.server.agent('r-3', 'assistant', { text: 'nobody', delta: 'nobody' });
    await until(() => lab.client.stats().framesReceived === 6);
    expect(one.events).toEqual([
      {
        ...{ runId: 'r-1', seq: 1, stream: 'thinking', ts: 1, sessionKey: 'agent:main:s' },
        data: { text: 'hm', delta: 'hm' },
      },
      {
        ...{ runId: 'r-1', seq: 2, stream: 'assistant', ts: 1, sessionKey: 'agent:main:s' },
        data: { text: 'yes', delta: 'yes' },
      },
    ]);
    expect(two.events.map(({ data }) => data.text)).toEqual(['no']);
    expect(lab.client.stats().unroutedEvents).toBe(1);
  });

  it('and chat events reach one run side by side, and generic listeners see all (stream §3.1)', async () => {
    await using lab = await gatewayLab();
    const { events, callback } = collect();
    const chats: ChatEvent[] = [];
    const seen: string[] = [];
    lab.client.registerAgentAccumulation('r-1', callback);
    lab.client.registerChatAccumulation('r-1', (event) => void chats.push(event));
    using _listening = lab.client.onEvent(({ event }) => void seen.push(event));
    lab.server.agent('r-1', 'assistant', { text: 'a' });
    lab.server.chat('r-1', 'delta', 'a');
    lab.server.chat('r-2', 'delta', 'of another');
    lab.server.chat('r-1', 'final', 'ab', { stopReason: 'end' });
    lab.server.event('presence', {});
    await until(() => seen.length === 5);
    expect(events).toHaveLength(1);
    expect(chats).toEqual([
      { runId: 'r-1', state: 'delta', text: 'a', sessionKey: 'agent:main:s' },
      { runId: 'r-1', state: 'final', text: 'ab', stopReason: 'end', sessionKey: 'agent:main:s' },
    ]);
    expect(seen).toEqual(['agent', 'chat', 'chat', 'chat', 'presence']);
  });

  it('can be routed by hand (seed 003: routeAgentEvent)', async () => {
    await using lab = await gatewayLab({ idle: true });
    const { events, callback } = collect();
    lab.client.registerAgentAccumulation('r-1', callback);
    const event = { runId: 'r-1', seq: 1, stream: 'assistant', ts: 1, data: { text: 'a' } };
    expect(lab.client.routeAgentEvent(event)).toBe(true);
    expect(lab.client.routeAgentEvent({ ...event, runId: 'r-2' })).toBe(false);
    expect(lab.client.routeAgentEvent({ runId: 'r-1' })).toBe(false);
    expect(events).toEqual([event]);
    expect(lab.client.stats()).toMatchObject({ unroutedEvents: 1, malformedFrames: 1 });
  });

  it('of a stream that the seed does not name go to a callback of their own (stream §1.2)', async () => {
    await using lab = await gatewayLab({ idle: true });
    const { events, callback } = collect();
    const others: OtherAgentEvent[] = [];
    lab.client.registerAgentAccumulation('r-1', callback, (event) => void others.push(event));
    lab.client.routeAgentEvent({
      runId: 'r-1',
      seq: 1,
      stream: 'compaction',
      data: { phase: 'start' },
    });
    lab.client.routeAgentEvent({ runId: 'r-1', stream: 'tool', data: { phase: 'start' } });
    expect(others).toMatchObject([{ stream: 'compaction', seq: 1 }]);
    expect(events).toMatchObject([{ stream: 'tool', seq: 1 }]); // the number of the one before it
  });

  it('reach the others where one callback throws (stream §3.1)', async () => {
    await using lab = await gatewayLab();
    const { events, callback } = collect();
    const seen: unknown[] = [];
    lab.client.registerAgentAccumulation('r-1', () => {
      throw new Error('mine');
    });
    lab.client.registerAgentAccumulation('r-2', callback);
    lab.client.onEvent(() => {
      throw new Error('mine, too');
    });
    lab.client.onEvent((event) => void seen.push(event));
    lab.server.agent('r-1', 'assistant', { text: 'a' });
    lab.server.agent('r-2', 'assistant', { text: 'a' });
    await until(() => seen.length === 2);
    expect(events).toHaveLength(1);
    expect(lab.client.stats().listenerErrors).toBe(3);
  });
});

describe('registering', () => {
  it.each(['agent', 'chat'] as const)(
    'refuses the 51st run of the %s map, and the other map has its own 50 (stream §3.2; facts 4.4)',
    async (kind) => {
      await using lab = await gatewayLab({ idle: true });
      const { client } = lab;
      const register = (runId: string): void =>
        kind === 'agent'
          ? client.registerAgentAccumulation(runId, () => undefined)
          : client.registerChatAccumulation(runId, () => undefined);
      for (let run = 1; run <= 50; run++) register(`r-${run}`);
      expect(() => register('r-51')).toThrow(
        expect.objectContaining({
          code: 'too-many-runs',
          details: { runId: 'r-51', kind, count: 50 },
        }),
      );
      if (kind === 'agent') client.registerChatAccumulation('r-1', () => undefined);
      else client.registerAgentAccumulation('r-1', () => undefined);
    },
  );

  it('refuses a run that is registered, and leaves the first alone (stream §3.2; defect: silent overwrite)', async () => {
    await using lab = await gatewayLab({ idle: true });
    const first = collect();
    const second = collect();
    lab.client.registerAgentAccumulation('r-1', first.callback);
    expect(() => lab.client.registerAgentAccumulation('r-1', second.callback)).toThrow(
      expect.objectContaining({ code: 'run-registered' }),
    );
    expect(lab.client.unregisterAgentAccumulation('r-1', second.callback)).toBe(false);
    lab.client.routeAgentEvent({ runId: 'r-1', seq: 1, stream: 'assistant', data: {} });
    expect(first.events).toHaveLength(1);
    expect(lab.client.unregisterAgentAccumulation('r-1', first.callback)).toBe(true);
    expect(lab.client.unregisterAgentAccumulation('r-1')).toBe(false);
    expect(lab.client.stats().agentRuns).toBe(0);
  });

  it('a chat run likewise (stream §3.2)', async () => {
    await using lab = await gatewayLab({ idle: true });
    const callback = () => undefined;
    lab.client.registerChatAccumulation('r-1', callback);
    expect(() => lab.client.registerChatAccumulation('r-1', () => undefined)).toThrow('r-1');
    expect(lab.client.unregisterChatAccumulation('r-1', () => undefined)).toBe(false);
    expect(lab.client.unregisterChatAccumulation('r-1', callback)).toBe(true);
  });
});

describe('events that come before their run is registered (stream §3.3; defect: lost)', () => {
  it('are kept while the acknowledgement is waited for, and told in order', async () => {
    await using lab = await gatewayLab();
    lab.server.answers['chat.send'] = () => {
      lab.server.agent('r-9', 'thinking', { text: 'hm' });
      lab.server.agent('r-9', 'assistant', { text: 'yes' });
      lab.server.chat('r-9', 'delta', 'yes');
      return { payload: { runId: 'r-9', status: 'started' } };
    };
    await lab.client.requestRun('chat.send', { idempotencyKey: 'k' });
    const { events, callback } = collect();
    const chats: unknown[] = [];
    lab.client.registerAgentAccumulation('r-9', callback);
    lab.client.registerChatAccumulation('r-9', (event) => void chats.push(event));
    lab.server.agent('r-9', 'lifecycle', { phase: 'end' });
    await until(() => events.length === 3);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(chats).toHaveLength(1);
    expect(lab.client.stats().earlyEvents).toBe(0);
  });

  it('are let go a second after the acknowledgement', async () => {
    await using lab = await gatewayLab();
    const acknowledged = lab.client.requestRun('chat.send', { idempotencyKey: 'k' });
    lab.server.agent('r-9', 'assistant', { text: 'yes' });
    await acknowledged;
    await until(() => lab.client.stats().earlyEvents === 1);
    await lab.clock.advance(999);
    expect(lab.client.stats().earlyEvents).toBe(1);
    await lab.clock.advance(1);
    expect(lab.client.stats().earlyEvents).toBe(0);
  });

  it('are at most a thousand, and at most 4 Mi characters; the oldest goes first', async () => {
    await using lab = await gatewayLab();
    lab.server.answers['chat.send'] = () => undefined;
    const asked = lab.client.requestRun('chat.send', {}).catch(() => undefined);
    for (let event = 0; event < 1_010; event++) lab.server.agent('r-9', 'assistant', { text: 'a' });
    await until(() => lab.client.stats().unroutedEvents === 1_010);
    expect(lab.client.stats()).toMatchObject({ earlyEvents: 1_000, earlyEventsDropped: 10 });
    for (let event = 0; event < 5; event++)
      lab.server.agent('r-8', 'assistant', { text: 'a'.repeat(1_000_000) });
    await until(() => lab.client.stats().unroutedEvents === 1_015);
    expect(lab.client.stats().earlyEvents).toBe(4);
    await lab.client.stop();
    await asked;
    expect(lab.client.stats().earlyEvents).toBe(0);
  });

  it('are not kept where nobody waits for an acknowledgement', async () => {
    await using lab = await gatewayLab();
    lab.server.agent('r-9', 'assistant', { text: 'yes' });
    await until(() => lab.client.stats().unroutedEvents === 1);
    expect(lab.client.stats().earlyEvents).toBe(0);
  });
});

describe('the numbers of a run (stream §3.4, §3.5; fault 42)', () => {
  const event = (seq: number | undefined, text: string) => ({
    runId: 'r-1',
    stream: 'assistant',
    data: { text },
    ...(seq !== undefined && { seq }),
  });

  it('repeats and regressions are dropped and counted', async () => {
    await using lab = await gatewayLab({ idle: true });
    const { events, callback } = collect();
    lab.client.registerAgentAccumulation('r-1', callback);
    for (const [seq, text] of [
      [1, 'a'],
      [2, 'ab'],
      [2, 'ab'],
      [1, 'a'],
      [3, 'abc'],
    ] as const)
      lab.client.routeAgentEvent(event(seq, text));
    expect(events.map(({ data }) => data.text)).toEqual(['a', 'ab', 'abc']);
    expect(lab.client.stats()).toMatchObject({ seqRegressions: 2, seqGaps: 0 });
  });

  it('a gap is counted and logged, and the next snapshot heals it', async () => {
    await using lab = await gatewayLab({ idle: true });
    const { events, callback } = collect();
    lab.client.registerAgentAccumulation('r-1', callback);
    for (const [seq, text] of [
      [5, 'a'],
      [9, 'abcd'],
    ] as const)
      lab.client.routeAgentEvent(event(seq, text));
    expect(events.map(({ data }) => data.text)).toEqual(['a', 'abcd']);
    expect(lab.client.stats().seqGaps).toBe(1);
    expect(lab.log.entries.find(({ level }) => level === 'warn')).toMatchObject({
      fields: { runId: 'r-1', after: 5, before: 9 },
    });
  });

  it("the gateway's own note of a gap, which has no number, ends nothing (defect: it ended the run)", async () => {
    await using lab = await gatewayLab({ idle: true });
    const { events, callback } = collect();
    lab.client.registerAgentAccumulation('r-1', callback);
    const data = { reason: 'seq gap', expected: 2, received: 4 };
    lab.client.routeAgentEvent({ runId: 'r-1', stream: 'error', ts: 1, data });
    lab.client.routeAgentEvent(event(4, 'abcd'));
    expect(events).toMatchObject([{ stream: 'assistant' }]);
    expect(lab.client.stats().gapReports).toBe(1);
    expect(lab.log.entries.at(-1)?.fields).toMatchObject({ expected: 2, received: 4 });
  });
});

describe('claims', () => {
  it('last until the last of them is disposed', async () => {
    await using lab = await gatewayLab({ idle: true });
    const first = lab.client.claimRun('r-1');
    const second = lab.client.claimRun('r-1');
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(lab.client.isClaimed('r-1')).toBe(true);
    second[Symbol.dispose]();
    expect(lab.client.isClaimed('r-1')).toBe(false);
    expect(lab.client.stats().claimedRuns).toBe(0);
  });
});
