import { describe, expect, it } from 'vitest';
import { echoProvider, runAgentTurn } from '../../src/agent/index.js';
import { bridgeAgentEvents } from '../../src/openclaw/agent-events/bridge-agent-events.js';
import type { AgentEvent } from '../../src/openclaw/agent-events/event.js';
import { bridgeInternalHooks } from '../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import { createTestKernel } from '../../src/testing/index.js';

function lab() {
  const { kernel, clock, outcomes } = createTestKernel();
  const agent = bridgeAgentEvents(kernel, { clock });
  const internal = bridgeInternalHooks(kernel, { clock });
  const heard: AgentEvent[] = [];
  agent.onAgentEvent((event) => void heard.push(event));
  const run = () =>
    runAgentTurn({
      kernel,
      clock,
      provider: echoProvider(),
      message: { text: 'hello' },
      runId: 'r-1',
      session: {
        agentId: 'main',
        sessionKey: 'k',
        sessionId: 's',
        history: [],
        append: () => undefined,
      },
    });
  const count = (family: string) => outcomes.filter(({ event }) => event.family === family).length;
  return { agent, internal, heard, run, count };
}

describe('a turn of this project', () => {
  it('is told to listeners as the legacy system tells a run: start, text and tools, end', async () => {
    const { heard, run } = lab();
    expect(await run()).toMatchObject({ status: 'completed' });
    const told = heard.map(({ stream, data: { phase } }) =>
      phase === undefined ? stream : `${stream} ${String(phase)}`,
    );
    expect(told[0]).toBe('lifecycle start');
    expect(told.at(-1)).toBe('lifecycle end');
    expect(told).toEqual(expect.arrayContaining(['assistant', 'tool start', 'tool result']));
    expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, i) => i + 1));
    expect(heard.at(-1)).toMatchObject({ runId: 'r-1', sessionKey: 'k' });
    const texts = heard.filter(({ stream }) => stream === 'assistant');
    expect(texts.at(-1)?.data.text).toBe('hello');
  });

  it('stays the one dispatcher of its run, also where its provider emits agent events', async () => {
    const { agent, run, count } = lab();
    const stop = agent.onAgentEvent(({ stream, data }) => {
      if (stream !== 'lifecycle' || data.phase !== 'start') return;
      stop();
      agent.emitAgentEvent({ runId: 'r-1', stream: 'lifecycle', data: { phase: 'start' } });
      agent.emitAgentEvent({ runId: 'r-1', stream: 'lifecycle', data: { phase: 'end' } });
    });
    await run();
    await agent.idle();
    expect(count('agent.starting')).toBe(1);
    expect(count('agent.completed')).toBe(1);
    expect(agent.stats().left).toBe(2);
  });

  it('asks the handlers of agent:bootstrap for files', async () => {
    const { internal, run, count } = lab();
    const contexts: unknown[] = [];
    internal.registerInternalHook('agent:bootstrap', ({ context }) => {
      contexts.push(context.sessionKey);
      (context.bootstrapFiles as unknown[]).push({ name: 'TEAM.md', content: 'Be kind.' });
    });
    expect(await run()).toMatchObject({ status: 'completed' });
    expect(contexts).toEqual(['k']);
    expect(count('agent.prompt.building')).toBe(1);
  });
});
