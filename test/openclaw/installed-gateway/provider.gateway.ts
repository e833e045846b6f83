import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AgentTurnResult, runAgentTurn } from '../../../src/agent/index.js';
import { checkOrdering } from '../../../src/claude/index.js';
import { OpenClawAgentProvider, type OpenClawClient } from '../../../src/openclaw/gateway/index.js';
import type {
  AgentEventPayload,
  SessionEvent,
  StreamDelta,
  TranscriptEntry,
} from '../../../src/sdk/stream/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { until } from '../../support/gateway-server.js';
import { calls, held, says, stalls, thinks } from '../../support/messages-api/reply.js';
import { describeGateway, GatewayLab, release, triggerOf } from './gateway-lab.js';

const tool = (id: string) =>
  says(thinks('A note?'), 'I will look.', calls(id, 'read', { path: 'note.txt' }));

/** The same, but the call comes when the text has been heard. */
let isHeard: () => void = () => undefined;
const heard = new Promise<void>((resolve) => {
  isHeard = resolve;
});
const slowly = (id: string) => {
  let blocks = 0;
  const until = () => (blocks++ === 0 ? Promise.resolve() : heard);
  return held(until, 'I will look.', calls(id, 'read', { path: 'note.txt' }));
};

describeGateway('an agent behind a real gateway (stream §4, §5)', () => {
  let lab: GatewayLab;
  let client: OpenClawClient;

  beforeAll(async () => {
    lab = await GatewayLab.open({
      main: [],
      lanes: {
        'stream the note': [tool('toolu_1'), says('It says: buy milk.')],
        'take a turn': [tool('toolu_2'), says('Milk it is.')],
        'answer whole': [says('A whole answer.')],
        'note whole': [tool('toolu_3'), says('It says: buy milk.')],
        'slow note': [slowly('toolu_4'), says('It says: buy milk.')],
        'leave early': [stalls('One, two, three, four, five, six, seven, eight', 4)],
        'be stopped': [stalls('One, two, three, four, five, six, seven, eight', 4)],
      },
    });
    client = await lab.client({ resumeWindowMs: 1_000, reconnect: { firstDelayMs: 50 } });
    await client.ready();
  });

  afterEach(async () => {
    await until(() => client.stats().pendingRequests === 0); // a gateway may take its time to stop a run
    const { agentRuns, chatRuns, claimedRuns, pendingRequests } = client.stats();
    expect({ agentRuns, chatRuns, claimedRuns, pendingRequests }).toEqual({
      agentRuns: 0,
      chatRuns: 0,
      claimedRuns: 0,
      pendingRequests: 0,
    });
  });

  afterAll(() => lab[Symbol.asyncDispose]());

  async function allOf(deltas: AsyncIterable<StreamDelta>): Promise<StreamDelta[]> {
    const all: StreamDelta[] = [];
    for await (const delta of deltas) all.push(delta);
    return all;
  }

  it('streams each message as it grows, then one final; tool events go to the tap and are no deltas', async () => {
    const tools: AgentEventPayload[] = [];
    const provider = new OpenClawAgentProvider({
      client,
      agentId: 'main',
      onTool: (event) => tools.push(event),
    });
    const deltas = await allOf(provider.triggerStream(triggerOf('stream the note')));
    expect(deltas.at(-1)).toMatchObject({
      phase: 'final',
      content: 'It says: buy milk.',
    });
    expect(deltas.filter(({ phase }) => phase === 'final')).toHaveLength(1);
    const texts = deltas.flatMap((one) => (one.phase === 'content' ? [one.content] : []));
    const said = ['I will look.', 'It says: buy milk.']; // stream §4.4: the second begins anew
    expect(said.map((whole) => texts.filter((text) => whole.startsWith(text)).at(-1))).toEqual(
      said,
    );
    expect(texts.filter((text) => !said.some((whole) => whole.startsWith(text)))).toEqual([]);
    expect(tools.map(({ data }) => data['phase'])).toEqual(['start', 'result']);
  });

  it('streams a text before a tool call once, also if the call comes later', async () => {
    const provider = new OpenClawAgentProvider({ client, agentId: 'main', messages: 'all' });
    const deltas: StreamDelta[] = [];
    for await (const delta of provider.triggerStream(triggerOf('slow note'))) {
      deltas.push(delta);
      if (delta.phase === 'content') isHeard();
    }
    expect(deltas.at(-1)).toMatchObject({
      phase: 'final',
      content: 'I will look.\n\nIt says: buy milk.',
    });
  });

  it('answers whole, with the text before a tool call', async () => {
    const provider = new OpenClawAgentProvider({ client, agentId: 'main' });
    const between = release?.protocol === 3 ? '' : '\n\n'; // 2026.3 puts nothing between messages
    expect(await provider.trigger(triggerOf('note whole'))).toMatchObject({
      status: 'answered',
      parts: [`I will look.${between}It says: buy milk.`],
    });
  });

  it('answers whole', async () => {
    const provider = new OpenClawAgentProvider({ client, agentId: 'main' });
    expect(await provider.trigger(triggerOf('answer whole'))).toMatchObject({
      status: 'answered',
      parts: ['A whole answer.'],
    });
  });

  it('is driven by a turn like any other agent: its events are in order, its tools observe-only', async () => {
    const provider = new OpenClawAgentProvider({ client, agentId: 'main' });
    const { result, events, families } = await turn(provider, 'take a turn');
    expect(result).toMatchObject({ status: 'completed' });
    expect(result.assistantTexts.join('\n')).toContain('Milk it is.');
    expect(checkOrdering(events)).toEqual([]);
    expect(families.filter((family) => family.startsWith('agent.tool.'))).toEqual([
      'agent.tool.calling',
      'agent.tool.called',
    ]);
    expect(families.filter((family) => family === 'agent.completed')).toHaveLength(1);
  });

  it('stops the run of a turn that is stopped', async () => {
    const provider = new OpenClawAgentProvider({ client, agentId: 'main' });
    const stop = new AbortController();
    const { result } = await turn(provider, 'be stopped', stop, (event) => {
      if (event.type === 'message_update') stop.abort();
    });
    expect(result.status).toBe('aborted');
  });

  it('stops the run that its reader leaves', async () => {
    const provider = new OpenClawAgentProvider({ client, agentId: 'main' });
    for await (const delta of provider.triggerStream(triggerOf('leave early')))
      if (delta.phase === 'content') break;
    expect(provider.circuit).toBe('closed');
  });

  /** One turn of an agent, and what was seen of it. */
  async function turn(
    provider: OpenClawAgentProvider,
    text: string,
    stop = new AbortController(),
    watch: (event: SessionEvent) => void = () => undefined,
  ): Promise<{
    readonly result: AgentTurnResult;
    readonly events: readonly SessionEvent[];
    readonly families: readonly string[];
  }> {
    const { kernel, outcomes } = createTestKernel();
    const events: SessionEvent[] = [];
    const written: TranscriptEntry[] = [];
    const sessionId = randomUUID();
    const result = await runAgentTurn({
      kernel,
      provider,
      session: {
        agentId: 'main',
        sessionKey: `test:${sessionId}`,
        sessionId,
        history: [],
        append: (entry) => void written.push(entry),
      },
      message: { text },
      runId: randomUUID(),
      signal: stop.signal,
      callbacks: {
        onEvent: (event) => {
          events.push(event);
          watch(event);
        },
      },
    });
    return { result, events, families: outcomes.map(({ event }) => event.family) };
  }
});
