import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { replayProvider } from '../../../src/claude/agent/index.js';
import type { HostOptions } from '../../../src/host/index.js';
import { memoryStore, type Store } from '../../../src/journal/index.js';
import type {
  AgentProvider,
  AgentRequest,
  TranscriptEntry,
} from '../../../src/sdk/stream/index.js';
import { fence } from '../../support/fences.js';
import { hostLab } from '../../support/host-lab.js';

const prompt = (content: string): TranscriptEntry => ({ role: 'user', content });
const answer = (text: string): TranscriptEntry => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
});
const calls = (...ids: readonly string[]): TranscriptEntry => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'toolCall', id, name: 't', arguments: {} })),
});
const result = (toolCallId: string): TranscriptEntry => ({
  role: 'toolResult',
  toolCallId,
  toolName: 't',
  content: [],
  isError: false,
});

/** The part of a transcript that the agent of a host gets, within bounds. */
async function given(
  transcript: readonly TranscriptEntry[],
  history?: NonNullable<HostOptions['session']>['history'],
): Promise<Pick<AgentRequest, 'history' | 'beforeHistory'>> {
  const store = memoryStore();
  const echo = echoProvider();
  const asked: AgentRequest[] = [];
  const provider: AgentProvider = {
    ...echo,
    run: (request) => {
      asked.push(request);
      return echo.run(request);
    },
  };
  await using lab = await hostLab({
    agents: [{ id: 'main', provider }],
    store,
    ...(history !== undefined && { session: { history } }),
  });
  for (const entry of transcript) await store.appendMessage('session-1', entry, { fence });
  await lab.say('now');
  const [request] = asked;
  if (request === undefined) throw new Error('the agent was not asked');
  return request;
}

describe('what an agent gets of its session (§15.4, §15.5)', () => {
  const turns = (count: number) =>
    Array.from({ length: count }, (_, at) => [prompt(`q${at}`), answer(`a${at}`)]).flat();

  it('B1b: is all of a short transcript, and nothing is said to be before it', async () => {
    const request = await given(turns(100));
    expect(request.history).toEqual(turns(100));
    expect(request).not.toHaveProperty('beforeHistory');
  });

  it('B1b: is the newest 200 messages of a longer one, and how much is before them', async () => {
    const request = await given(turns(150));
    expect(request.history).toEqual(turns(150).slice(-200));
    expect(request.beforeHistory).toEqual({ messages: 100, prompts: 50 });
  });

  it('B1b: is as much as maxMessages says, from the beginning of a turn on', async () => {
    const request = await given(turns(10), { maxMessages: 5 });
    expect(request.history).toEqual(turns(10).slice(-4)); // the fifth would answer a prompt that is cut off
    expect(request.beforeHistory).toEqual({ messages: 16, prompts: 8 });
    expect(await given(turns(10), { maxMessages: 0 })).toMatchObject({
      history: [],
      beforeHistory: { messages: 20, prompts: 10 },
    });
  });

  it('B1b: is as much as maxTokens says: a token for each four characters of the JSON of a message', async () => {
    const long = prompt('x'.repeat(400 - JSON.stringify(prompt('')).length)); // 400 characters: 100 tokens
    const transcript = [long, long, long];
    const prompts = async (...of: Parameters<typeof given>) =>
      (await given(...of)).history.filter(({ role }) => role === 'user'); // with notes between them (§16.29)
    expect(await prompts(transcript, { maxTokens: 300 })).toHaveLength(3);
    expect(await prompts(transcript, { maxTokens: 299 })).toHaveLength(2);
    expect(await prompts(transcript, { maxTokens: 99 })).toEqual([]);
    const more = prompt(`${long.content}x`); // 401 characters: 101 tokens
    expect(await prompts([more, long], { maxTokens: 200 })).toHaveLength(1);
  });

  it('B1b: begins within a turn only if that turn alone is too long, and never with a result whose call is cut off', async () => {
    const long = [prompt('do'), calls('a', 'b'), result('a'), result('b'), calls('c'), result('c')];
    const request = await given([...turns(1), ...long, answer('done')], { maxMessages: 5 });
    expect(request.history).toEqual([calls('c'), result('c'), answer('done')]);
    expect(request.beforeHistory).toEqual({ messages: 6, prompts: 2 });
    expect((await given([...long, result('d')], { maxMessages: 1 })).history).toEqual([]);
  });

  it('B1b: counts what is neither of a person nor of a model as it counts the others', async () => {
    const summary = { role: 'summary', content: 'what was said before' };
    const request = await given([...turns(1), summary, prompt('on'), answer('yes')], {
      maxMessages: 3,
    });
    expect(request.history).toEqual([prompt('on'), answer('yes')]);
    expect(request.beforeHistory).toEqual({ messages: 3, prompts: 1 });
  });

  it.each([
    ['maxMessages', -1],
    ['maxTokens', Number.NaN],
  ])('B1b: is bounded by a count, and a host with %s: %d is refused', async (key, bound) => {
    await expect(hostLab({ session: { history: { [key]: bound } } })).rejects.toMatchObject({
      code: 'bad-option',
      message: expect.stringContaining(`session.history.${key}`),
    });
  });

  it('B1b: does not change which run of a recording comes next', async () => {
    const run = (text: string) => [
      {
        type: 'assistant',
        parent_tool_use_id: null,
        message: { id: text, content: [{ type: 'text', text }] },
      },
      { type: 'result', subtype: 'success', is_error: false },
    ];
    const provider = replayProvider(['one', 'two', 'three'].flatMap(run));
    const agents = [{ id: 'main', provider }];
    await using lab = await hostLab({ agents, session: { history: { maxMessages: 2 } } });
    for (let at = 0; at < 7; at++) await lab.say('next');
    expect(lab.texts()).toEqual(['one', 'two', 'three', 'one', 'two', 'three', 'one']);
  });
});

describe('what tells of a transcript (§15.7, §15.8)', () => {
  it('B1b: the stages of a turn have what its agent gets, the transcript stays whole', async () => {
    const store = memoryStore();
    await using lab = await hostLab({ store, session: { history: { maxMessages: 4 } } });
    for (const text of ['one', 'two', 'three']) await lab.say(text);
    const lengths = [
      lab.of('agent.prompt.building').map(({ payload }) => payload.messages.length),
      lab.of('agent.llm.input').map(({ payload }) => payload.historyMessages.length),
      lab.of('agent.completed').map(({ payload }) => payload.messages?.length),
    ];
    expect(lengths).toEqual([
      [0, 4, 4],
      [0, 4, 4],
      [4, 8, 8],
    ]);
    expect(await store.readTranscript('session-1')).toHaveLength(12);
  });

  it('B1b: compaction.before counts the whole, and has what the run has', async () => {
    const provider: AgentProvider = {
      ...echoProvider(),
      async *run() {
        yield { type: 'agent_start' };
        yield { type: 'auto_compaction_start', reason: 'threshold' };
        yield {
          type: 'auto_compaction_end',
          result: {},
          aborted: false,
          willRetry: false,
        };
        yield { type: 'agent_end', messages: [] };
      },
    };
    const agents = [{ id: 'main', provider }];
    await using lab = await hostLab({ agents, session: { history: { maxMessages: 2 } } });
    for (let at = 0; at < 5; at++) await lab.say('on');
    const told = lab.of('compaction.before').map(({ payload }) => payload);
    expect(told.map(({ messageCount }) => messageCount)).toEqual([1, 2, 3, 4, 5]);
    expect(told.map(({ messages }) => messages?.length)).toEqual([1, 2, 3, 3, 3]);
  });

  it('B1b: a reset reads the transcript where a handler is there to see it, and counts it without', async () => {
    const store = memoryStore();
    let whole = 0;
    const counting: Store = {
      ...store,
      readTranscript: (sessionId, part) => {
        if (part === undefined) whole++;
        return store.readTranscript(sessionId, part);
      },
    };
    await using lab = await hostLab({ store: counting, session: { history: { maxMessages: 4 } } });
    for (const text of ['one', 'two', '/new']) await lab.say(text);
    expect(whole).toBe(0);
    expect(lab.of('session.resetting')[0]?.payload).not.toHaveProperty('messages');
    expect(lab.of('session.ended')[0]?.payload.messageCount).toBe(8);
    const seen: unknown[] = [];
    using _ = lab.kernel.contribute({
      family: 'session.resetting',
      class: 'observer',
      extensionId: 'keeper',
      id: 'keep',
      handler: ({ payload }) => {
        seen.push(payload.messages?.length);
      },
    });
    for (const text of ['three', 'four', 'five', '/new']) await lab.say(text);
    expect(seen).toEqual([12]);
    expect(whole).toBe(1);
  });
});
