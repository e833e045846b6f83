import { describe, expect, it } from 'vitest';
import { runAgentTurn } from '../../../src/agent/index.js';
import { checkOrdering } from '../../../src/claude/index.js';
import type { AgentRequest, SessionEvent } from '../../../src/sdk/stream/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { until } from '../../support/gateway-server.js';
import {
  all,
  leftOf,
  nothingLeft,
  type ProviderLab,
  providerLab,
} from '../../support/provider-lab.js';

const request = (fields: Partial<AgentRequest> = {}): AgentRequest => ({
  runId: 'turn-1',
  agentId: 'main',
  sessionId: 's-1',
  sessionKey: 'console:ada',
  model: 'default',
  prompt: 'hello',
  attachments: [],
  history: [],
  session: { context: {}, memoryKeys: [], metadata: {} },
  gate: () => Promise.reject(new Error('the gate was asked')),
  tell: () => undefined,
  keepSession: () => undefined,
  offer: () => [],
  written: () => [],
  llmCalling: () => undefined,
  llmReturning: (message) => message,
  toolReturning: async (_call, result) => result,
  signal: new AbortController().signal,
  ...fields,
});

/** Runs a turn's request while the gateway says what it is told to, and checks the order of what comes. */
async function events(lab: ProviderLab, say: () => void, fields: Partial<AgentRequest> = {}) {
  const count = lab.server.sent('chat.send').length + 1;
  const running = all(lab.agent.run(request(fields)));
  await lab.acknowledged(count);
  say();
  const told = await running;
  expect(checkOrdering(told)).toEqual([]);
  return told;
}

/** One line per event. */
function lines(told: readonly SessionEvent[]): string[] {
  return told.map((event) => {
    if (event.type === 'message_update') {
      const { type, contentIndex } = event.assistantMessageEvent;
      const text = 'delta' in event.assistantMessageEvent ? event.assistantMessageEvent.delta : '';
      return `${type} ${contentIndex} ${text}`.trimEnd();
    }
    if (event.type === 'message_end')
      return `message_end ${event.message.stopReason} ${JSON.stringify(event.message.content)}`;
    if ('toolCallId' in event) return `${event.type} ${event.toolCallId}`;
    return event.type;
  });
}

describe('the session events of a gateway run (stream §6)', () => {
  it('are thinking and text by their growth, calls at the end of the message that makes them, and the end', async () => {
    await using lab = await providerLab();
    const { server } = lab;
    const told = await events(lab, () => {
      server.agent('r-1', 'lifecycle', { phase: 'start' });
      server.agent('r-1', 'thinking', { text: 'I look', delta: 'I look' });
      server.agent('r-1', 'assistant', { text: 'Let me', delta: 'Let me' });
      server.agent('r-1', 'assistant', { text: 'Let me see', delta: ' see' });
      const call = { name: 'read', toolCallId: 't-1' };
      server.agent('r-1', 'tool', { ...call, phase: 'start', args: { path: 'a' } });
      server.agent('r-1', 'tool', { ...call, phase: 'update', partialResult: 'half' });
      server.agent('r-1', 'tool', { ...call, phase: 'result', result: 'whole', isError: false });
      server.agent('r-1', 'assistant', { text: 'It is 5', delta: 'It is 5' });
      server.agent('r-1', 'lifecycle', { phase: 'end' });
    });
    expect(lines(told)).toEqual([
      'agent_start',
      'message_start',
      'thinking_start 0',
      'thinking_delta 0 I look',
      'thinking_end 0',
      'text_start 1',
      'text_delta 1 Let me see', // both snapshots had come before they were read
      'text_end 1',
      'message_end toolUse [{"type":"thinking","thinking":"I look"},{"type":"text","text":"Let me see"},{"type":"toolCall","id":"t-1","name":"read","arguments":{"path":"a"}}]',
      'tool_execution_start t-1',
      'tool_execution_update t-1',
      'tool_execution_end t-1',
      'message_start',
      'text_start 0',
      'text_delta 0 It is 5',
      'text_end 0',
      'message_end stop [{"type":"text","text":"It is 5"}]',
      'agent_end',
    ]);
    expect(told.at(-1)).toMatchObject({
      messages: [{ provider: 'openclaw' }, { model: 'default' }],
    });
    expect(leftOf(lab)).toEqual(nothingLeft);
  });

  it('keep NO_REPLY, so that its turn knows that the silence is meant (pipeline §16.28)', async () => {
    await using lab = await providerLab();
    const told = await events(lab, () => {
      for (const text of ['NO', 'NO_REPLY']) lab.server.agent('r-1', 'assistant', { text });
      lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    });
    expect(textsOf(told)).toEqual(['NO_REPLY']);
  });

  it.each([
    ['whose increment is all of it', { text: 'Two', delta: 'Two' }, ['One', 'Two']],
    ['that begins as the one before', { text: 'One two', delta: 'One two' }, ['One', 'One two']],
    ['that has nothing of it, and no increment', { text: 'Two' }, ['One', 'Two']],
  ])('are a new message for a snapshot %s (stream §6.2)', async (_what, data, texts) => {
    await using lab = await providerLab();
    const told = await events(lab, () => {
      lab.server.agent('r-1', 'assistant', { text: 'One', delta: 'One' });
      lab.server.agent('r-1', 'assistant', data);
      lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    });
    expect(textsOf(told)).toEqual(texts);
  });

  it.each([
    ['takes something back', { text: 'On', delta: '' }, 'On'],
    ['says something else and goes on', { text: 'Ore', delta: 'e' }, 'Ore'],
  ])(
    'take nothing back where a snapshot %s; the message has the truth (stream §6.3)',
    async (_what, data, truth) => {
      await using lab = await providerLab();
      const stream = lab.agent.run(request());
      const told: SessionEvent[] = [];
      const reading = (async () => {
        for await (const event of stream) told.push(event);
      })();
      await lab.acknowledged();
      for (const one of [{ text: 'One', delta: 'One' }, data]) {
        lab.server.agent('r-1', 'assistant', one);
        await lab.settled();
      }
      lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
      await reading;
      expect(checkOrdering(told)).toEqual([]);
      expect(lines(told)).toContain('text_delta 0 One');
      expect(textsOf(told)).toEqual([truth]);
    },
  );

  it('tell each call once, also where its start is missing or its end does not come (stream §6.4)', async () => {
    await using lab = await providerLab();
    const { server } = lab;
    const told = await events(lab, () => {
      server.agent('r-1', 'tool', { phase: 'result', name: 'read', toolCallId: 't-1', result: 1 });
      server.agent('r-1', 'tool', { phase: 'result', name: 'read', toolCallId: 't-1', result: 2 });
      server.agent('r-1', 'tool', { phase: 'start', name: 'read', toolCallId: 't-2' });
      server.agent('r-1', 'tool', { phase: 'start', name: 'read', toolCallId: 't-2' });
      server.agent('r-1', 'tool', { phase: 'start', name: 'nameless' });
      server.agent('r-1', 'lifecycle', { phase: 'end' });
    });
    const ends = told.filter(({ type }) => type === 'tool_execution_end');
    expect(ends).toMatchObject([
      { toolCallId: 't-1', result: 1, isError: false },
      { toolCallId: 't-2', result: 'no result', isError: true },
    ]);
  });

  it('tell a compaction once, and close one that is open at the end (stream §6.5)', async () => {
    await using lab = await providerLab();
    const { server } = lab;
    const told = await events(lab, () => {
      server.agent('r-1', 'assistant', { text: 'One', delta: 'One' });
      server.agent('r-1', 'compaction', { phase: 'start' });
      server.agent('r-1', 'compaction', { phase: 'start' });
      server.agent('r-1', 'compaction', { phase: 'end', willRetry: true });
      server.agent('r-1', 'compaction', { phase: 'end' });
      server.agent('r-1', 'compaction', { phase: 'start' });
      server.agent('r-1', 'lifecycle', { phase: 'end' });
    });
    expect(told.filter(({ type }) => type.startsWith('auto_compaction'))).toEqual([
      { type: 'auto_compaction_start', reason: 'threshold' },
      { type: 'auto_compaction_end', aborted: false, willRetry: true },
      { type: 'auto_compaction_start', reason: 'threshold' },
      { type: 'auto_compaction_end', aborted: true, willRetry: false },
    ]);
  });

  it.each([
    [
      'agent',
      (lab: ProviderLab) =>
        lab.server.agent('r-1', 'lifecycle', { phase: 'error', error: 'overloaded' }),
      'overloaded',
    ],
    ['gateway', (lab: ProviderLab) => void lab.client.stop(), 'the gateway client was stopped'],
  ])('end with an error by the %s, in an order that holds', async (subtype, fail, message) => {
    await using lab = await providerLab();
    const told = await events(lab, () => {
      lab.server.agent('r-1', 'assistant', { text: 'One', delta: 'One' });
      lab.server.agent('r-1', 'tool', { phase: 'start', name: 'read', toolCallId: 't-1' });
      lab.server.agent('r-1', 'assistant', { text: 'Two', delta: 'Two' });
      void lab.settled().then(() => fail(lab));
    });
    expect(told.at(-1)).toMatchObject({ error: { subtype, message } });
    expect(told.findLast(({ type }) => type === 'message_end')).toMatchObject({
      message: { stopReason: 'error', errorMessage: message },
    });
    expect(leftOf(lab)).toMatchObject({ agentRuns: 0, chatRuns: 0, claimedRuns: 0 });
  });

  it('end aborted where the turn is stopped, and the agent is stopped, too', async () => {
    await using lab = await providerLab();
    const stop = new AbortController();
    const told = await events(
      lab,
      () => {
        lab.server.agent('r-1', 'assistant', { text: 'One', delta: 'One' });
        void lab.settled().then(() => stop.abort());
      },
      { signal: stop.signal },
    );
    expect(told.at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
    await until(() => lab.server.sent('chat.abort').length === 1);
  });

  it('end at once with an error where the circuit is open, and without one where nothing is asked', async () => {
    await using lab = await providerLab({ agent: { circuit: { threshold: 1 } } });
    await lab.client.stop();
    expect((await all(lab.agent.run(request()))).at(-1)).toMatchObject({
      error: { subtype: 'gateway' },
    });
    expect(await all(lab.agent.run(request()))).toMatchObject([
      { type: 'agent_start' },
      { error: { message: expect.stringContaining('temporarily unavailable') } },
    ]);
    expect(lines(await all(lab.agent.run(request({ prompt: ' ' }))))).toEqual([
      'agent_start',
      'agent_end',
    ]);
  });

  it('send the prompt as it is, with files by name, and warn once that the system prompt is not sent', async () => {
    await using lab = await providerLab();
    const { server } = lab;
    const fields = {
      systemPrompt: 'Be brief.',
      attachments: [
        { kind: 'image', name: 'cat.png', path: '/srv/cat.png', mimeType: 'image/png' },
      ],
    };
    for (const run of ['r-1', 'r-2'])
      await events(lab, () => server.agent(run, 'lifecycle', { phase: 'end' }), fields);
    expect(server.sent('chat.send')[0]?.params).toMatchObject({
      sessionKey: 'agent:main:sluice-s-1',
      message: 'Attached files:\n- image cat.png /srv/cat.png (image/png)\n\nhello',
    });
    expect(lab.log.messages('warn').filter((one) => one.includes('system prompt'))).toHaveLength(1);
  });

  it('may be left while one is waited for: the run is let go and the agent stopped', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.run(request());
    await stream.next();
    const pending = stream.next();
    await lab.acknowledged();
    expect(lab.client.isClaimed('r-1')).toBe(true);
    await stream.return(undefined);
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(lab.client.stats()).toMatchObject({ agentRuns: 0, chatRuns: 0, claimedRuns: 0 });
    await until(() => lab.server.sent('chat.abort').length === 1);
  });

  it('of a reader who does not read are merged while they grow, and end with an error where they pile up (stream §6.6; fault 40)', async () => {
    await using lab = await providerLab();
    const stream = lab.agent.run(request());
    await stream.next();
    const second = stream.next();
    await lab.acknowledged();
    lab.server.agent('r-1', 'assistant', { text: 'x', delta: 'x' });
    await second;
    let text = 'x';
    for (let event = 0; event < 3_000; event++) {
      text += 'x';
      lab.server.agent('r-1', 'assistant', { text, delta: 'x' });
    }
    await lab.settled();
    for (let call = 0; call < 1_001; call++)
      lab.server.agent('r-1', 'tool', { phase: 'start', name: 'read', toolCallId: `t-${call}` });
    await until(() => lab.server.sent('chat.abort').length === 1);
    const rest = await all(stream);
    expect(checkOrdering([{ type: 'agent_start' }, ...(await seen(second)), ...rest])).toEqual([]);
    expect(rest.at(-1)).toMatchObject({
      error: { subtype: 'reader', message: expect.stringContaining('too slow') },
    });
  });
});

async function seen(next: Promise<IteratorResult<SessionEvent>>): Promise<SessionEvent[]> {
  const { value, done } = await next;
  return done === true ? [] : [value];
}

function textsOf(told: readonly SessionEvent[]): string[] {
  return told.flatMap((event) =>
    event.type === 'message_end'
      ? event.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
      : [],
  );
}

describe('an agent turn over the gateway (stream §6.1)', () => {
  it('dispatches the run as any other, and its tools as observed', async () => {
    await using lab = await providerLab();
    const test = createTestKernel();
    test.kernel.contribute({
      ...{ family: 'agent.tool.calling', class: 'veto', extensionId: 'acme', id: 'no' },
      handler: () => ({ kind: 'cancel', code: 'policy' }) as never,
    });
    const turn = runAgentTurn({
      kernel: test.kernel,
      provider: lab.agent,
      message: { text: 'hello' },
      runId: 'turn-1',
      logger: test.log,
      session: {
        ...{ agentId: 'main', sessionKey: 'console:ada', sessionId: 's-1', history: [] },
        append: () => undefined,
      },
    });
    await lab.acknowledged();
    expect(lab.client.isClaimed('r-1')).toBe(true); // a bridge leaves it alone
    lab.server.agent('r-1', 'assistant', { text: 'Let me', delta: 'Let me' });
    lab.server.agent('r-1', 'tool', { phase: 'start', name: 'read', toolCallId: 't-1', args: {} });
    lab.server.agent('r-1', 'tool', { phase: 'result', name: 'read', toolCallId: 't-1' });
    lab.server.agent('r-1', 'assistant', { text: 'It is 5', delta: 'It is 5' });
    lab.server.agent('r-1', 'lifecycle', { phase: 'end' });
    const result = await turn;
    expect(result.status).toBe('completed');
    const families = test.outcomes.map(({ event }) => event.family);
    for (const family of ['agent.starting', 'agent.completed', 'agent.llm.output'] as const)
      expect(
        families.filter((one) => one === family),
        family,
      ).toHaveLength(1);
    const calling = test.outcomes.find(({ event }) => event.family === 'agent.tool.calling');
    expect(calling?.status).toBe('passed'); // it has run already
    expect(calling?.failures).toHaveLength(1);
    expect(families).toContain('agent.tool.called');
    expect(families).toContain('agent.output.delta');
  });
});
