import { describe, expect, it } from 'vitest';
import {
  type ClaudeQuery,
  type ClaudeQueryOptions,
  claudeProvider,
} from '../../../src/claude/agent/index.js';
import type { CsdkFrame } from '../../../src/claude/index.js';
import type { AgentRequest, SessionEvent, SessionMessage } from '../../../src/sdk/stream/index.js';
import { collectingLogger, createTestKernel } from '../../../src/testing/index.js';
import { frames } from '../../support/bridge-lab.js';
import { turnLab } from '../../support/turn-lab.js';

const callOf = (id: string): CsdkFrame => frames.call(id, 'Bash', { command: 'sleep 60' });
const answerTo = (id: string, text: string): CsdkFrame => frames.answer(id, text, {}, true);

/** What a query was called with, and what became of it. */
interface Asked {
  readonly prompt: string;
  readonly options: ClaudeQueryOptions;
  closed: boolean;
}

const init = (session: string): CsdkFrame => ({
  type: 'system',
  subtype: 'init',
  session_id: session,
});
const said = (uuid: string): CsdkFrame => ({
  type: 'assistant',
  uuid,
  parent_tool_use_id: null,
  message: { id: uuid, role: 'assistant', content: [{ type: 'text', text: 'So.' }] },
});
const result: CsdkFrame = { type: 'result', subtype: 'success', is_error: false, result: '' };
const broken: CsdkFrame = { type: 'result', subtype: 'error_during_execution', is_error: true };
/** A result as the SDK gives it, version 0.3.330, before anything has begun. */
const refused = (...errors: readonly string[]): CsdkFrame => ({ ...broken, num_turns: 0, errors });
const lost = (id: string): CsdkFrame => refused(`No conversation found with session ID: ${id}`);

/** A query that yields frames, or waits for ever after them. */
function fakeQuery(frames: (call: number) => readonly CsdkFrame[], thenWaits = false) {
  const asked: Asked[] = [];
  const query: ClaudeQuery = ({ prompt, options }) => {
    const call = { prompt, options, closed: false };
    const mine = frames(asked.push(call) - 1);
    const signal = options.abortController?.signal;
    async function* run(): AsyncGenerator<CsdkFrame, void> {
      yield* mine;
      if (thenWaits)
        await new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('Operation aborted')));
        });
    }
    return Object.assign(run(), { close: () => void (call.closed = true) });
  };
  return { query, asked };
}

/** A query in the middle of a tool call, and what it yields when it is interrupted. */
function interruptible(frames: () => readonly CsdkFrame[]) {
  const interrupted: number[] = [];
  const query: ClaudeQuery = ({ options }) => {
    let wake = (_: readonly CsdkFrame[]): void => undefined;
    const signal = options.abortController?.signal;
    const more = new Promise<readonly CsdkFrame[]>((resolve, reject) => {
      wake = (some) => some.length > 0 && resolve(some);
      signal?.addEventListener('abort', () => reject(new Error('Operation aborted')));
    });
    async function* run(): AsyncGenerator<CsdkFrame, void> {
      yield init('c-1');
      yield callOf('t');
      yield* await more;
    }
    const interrupt = async (): Promise<void> => {
      interrupted.push(interrupted.length + 1);
      wake(frames());
    };
    return Object.assign(run(), { close: () => undefined, interrupt });
  };
  return { query, interrupted };
}

function request(fields: Partial<AgentRequest> = {}): AgentRequest {
  return {
    runId: 'r-1',
    agentId: 'main',
    sessionId: 's-1',
    sessionKey: 'k',
    model: 'default',
    prompt: 'And now?',
    attachments: [],
    history: [],
    session: { context: {}, memoryKeys: [], metadata: {} },
    gate: async ({ args }) => ({ allowed: true, args }),
    tell: () => undefined,
    keepSession: () => undefined,
    offer: () => [],
    written: () => [],
    llmCalling: () => undefined,
    llmReturning: (message) => message,
    toolReturning: async (_call, result) => result,
    signal: new AbortController().signal,
    ...fields,
  };
}

async function eventsOf(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const all: SessionEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

function talk(...turns: readonly (readonly [string, string])[]): SessionMessage[] {
  return turns.flatMap(([content, text]): SessionMessage[] => [
    { role: 'user', content },
    { role: 'assistant', content: [{ type: 'text', text }] },
  ]);
}

/** Everything that can go on by itself has. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('the claude provider', () => {
  it('asks before every tool call, reads no settings and takes prompts as they are written', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const env = { PATH: '/bin' };
    const provider = claudeProvider({ query, cwd: '/srv', env, sdk: { maxTurns: 3 } });
    expect(provider).toMatchObject({ id: 'claude', toolGate: 'enforce' });
    const events = await eventsOf(provider.run(request({ systemPrompt: 'Be kind.' })));
    expect(events.map(({ type }) => type)).toEqual(['agent_start', 'agent_end']);
    expect(asked).toMatchObject([
      {
        prompt: 'And now?',
        closed: true,
        options: {
          canUseTool: expect.any(Function),
          hooks: { PreToolUse: [{ hooks: [expect.any(Function)], onFailure: 'block' }] },
          settingSources: [],
          verbatimPrompts: true,
          permissionMode: 'default',
          includePartialMessages: true,
          systemPrompt: { type: 'preset', append: 'Be kind.', snapshot: false },
          cwd: '/srv',
          env: { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1', PATH: '/bin' },
          maxTurns: 3,
        },
      },
    ]);
    expect(asked[0]?.options).not.toHaveProperty('model');
    expect(asked[0]?.options).not.toHaveProperty('resume');
  });

  it.each([
    ['an environment of its own', { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '0' }, '0'],
    ['the environment of the process', undefined, '1'],
  ])(
    'has the SDK tell its state in %s, unless that says otherwise (csdk §7.2)',
    async (_, env, said) => {
      const { query, asked } = fakeQuery(() => [init('c-1'), result]);
      await eventsOf(claudeProvider({ query, ...(env !== undefined && { env }) }).run(request()));
      const given = asked[0]?.options.env;
      expect(given).toMatchObject({ CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: said });
      expect(given?.['PATH']).toBe(env === undefined ? process.env['PATH'] : undefined);
    },
  );

  it('notes a turn as whole at its own result, not at one of no turn (§16.15, csdk §7.4)', async () => {
    const empty = { ...result, num_turns: 0 };
    const said = { type: 'assistant', uuid: 'u-1', message: { id: 'm', content: [] } };
    const kept: string[] = [];
    const { query } = fakeQuery(() => [init('c-1'), empty, said, { ...result, num_turns: 1 }]);
    const keepSession = (token: string): void => void kept.push(token);
    await eventsOf(claudeProvider({ query }).run(request({ keepSession })));
    expect(kept.map((token) => JSON.parse(token).isWhole)).toEqual([false, true]);
  });

  it.each(['hooks', 'canUseTool', 'resume', 'env'])(
    'refuses the SDK’s option %s, which is its own',
    (option) => {
      expect(() => claudeProvider({ sdk: { [option]: {} } })).toThrow(
        expect.objectContaining({
          code: 'reserved-option',
          message: expect.stringContaining(option),
        }),
      );
    },
  );

  it('says how the SDK is installed, where it is not', async () => {
    const events = claudeProvider({ cwd: '/nowhere' }).run(request());
    await expect(eventsOf(events)).rejects.toMatchObject({
      code: 'missing-package',
      message: expect.stringContaining('@anthropic-ai/claude-agent-sdk'),
      hint: expect.stringMatching(/npm install @anthropic-ai\/claude-agent-sdk@\d+\.\d+\.\d+`/),
    });
  });

  it('passes the model on, and a system prompt in the place of Claude Code’s own', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const provider = claudeProvider({ query, systemPrompt: 'replace' });
    await eventsOf(provider.run(request({ model: 'opus', systemPrompt: 'Be kind.' })));
    expect(asked[0]?.options).toMatchObject({
      model: 'opus',
      systemPrompt: { type: 'custom', prompt: 'Be kind.', snapshot: false },
    });
  });

  it('names the files that came along', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const attachments = [
      { kind: 'image', name: 'a.png', path: '/tmp/a.png', mimeType: 'image/png' },
    ];
    await eventsOf(claudeProvider({ query }).run(request({ attachments })));
    expect(asked[0]?.prompt).toBe(
      'Attached files:\n- image a.png /tmp/a.png (image/png)\n\nAnd now?',
    );
  });
});

describe('what the turns of a session share', () => {
  const first = talk(['Hello', 'Hi.']);

  it('is the session of the SDK that the turn before ran in', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const provider = claudeProvider({ query });
    await eventsOf(provider.run(request({ prompt: 'Hello' })));
    await eventsOf(provider.run(request({ history: first })));
    await eventsOf(provider.run(request({ sessionId: 's-2' })));
    expect(asked.map(({ options, prompt }) => [options.resume, prompt])).toEqual([
      [undefined, 'Hello'],
      ['c-1', 'And now?'],
      [undefined, 'And now?'],
    ]);
  });

  it('is the history, where no session of the SDK is known', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    await eventsOf(claudeProvider({ query }).run(request({ history: first })));
    expect(asked[0]?.prompt).toBe(
      '<conversation_so_far>\nuser: Hello\nassistant: Hi.\n</conversation_so_far>\n\nAnd now?',
    );
  });

  it('is the newest part of a history that is too long', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const history = talk(['old '.repeat(30_000), 'Long.'], ['new', 'Short.']);
    await eventsOf(claudeProvider({ query }).run(request({ history })));
    expect(asked[0]?.prompt).toMatch(/\(what was said before is left out\)\nassistant: Long\./);
    expect(asked[0]?.prompt).not.toContain('old');
  });

  it('is, with memory "history", never more than the history', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const provider = claudeProvider({ query, memory: 'history' });
    await eventsOf(provider.run(request({ prompt: 'Hello' })));
    await eventsOf(provider.run(request({ history: first })));
    expect(asked.map(({ options }) => options.persistSession)).toEqual([false, false]);
    expect(asked[1]?.options).not.toHaveProperty('resume');
    expect(asked[1]?.prompt).toContain('assistant: Hi.');
  });

  it('holds what another provider has answered meanwhile', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    const provider = claudeProvider({ query });
    await eventsOf(provider.run(request({ prompt: 'Hello' })));
    const history = [...first, ...talk(['Others?', 'Here.'])];
    await eventsOf(provider.run(request({ history })));
    expect(asked[1]?.options.resume).toBe('c-1');
    expect(asked[1]?.prompt).toContain('\nuser: Others?\nassistant: Here.\n');
    expect(asked[1]?.prompt).not.toContain('Hello');
  });

  it.each([
    ['holds what it had said when it was killed, which the SDK drops', [], 'assistant: I was go'],
    ['does not hold what it had said when it was interrupted, which the SDK keeps', [result], ''],
  ])('%s', async (_, ends, told) => {
    const { query, asked } = fakeQuery((call) =>
      call === 0 ? [init('c-1'), ...ends] : [init('c-1'), result],
    );
    const provider = claudeProvider({ query });
    const cut = { type: 'text', text: 'I was go' } as const;
    await eventsOf(provider.run(request({ history: first, prompt: 'Speak' })));
    const history: readonly SessionMessage[] = [
      ...first,
      { role: 'user', content: 'Speak' },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }], stopReason: 'toolUse' },
      { role: 'assistant', content: [cut], stopReason: 'aborted' },
    ];
    await eventsOf(provider.run(request({ history })));
    const before = `<conversation_so_far>\n${told}\n</conversation_so_far>\n\n`;
    expect(asked[1]?.prompt).toBe(`${told === '' ? '' : before}And now?`);
  });

  it('is the history, told in the log, where the SDK does not find its session any more (§16.15)', async () => {
    const { query, asked } = fakeQuery((call) =>
      call === 1 ? [lost('c-0')] : [init(`c-${call}`), result],
    );
    const logger = collectingLogger();
    const provider = claudeProvider({ query, logger });
    await eventsOf(provider.run(request({ prompt: 'Hello' })));
    const events = await eventsOf(provider.run(request({ history: first })));
    expect(events.at(-1)).not.toHaveProperty('error');
    await eventsOf(provider.run(request({ history: [...first, ...talk(['And now?', 'So.'])] })));
    expect(asked.map(({ options }) => options.resume)).toEqual([
      undefined,
      'c-0',
      undefined,
      'c-2',
    ]);
    expect(asked[2]?.prompt).toContain('assistant: Hi.');
    expect(logger.entries.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { claudeSession: 'c-0' } },
    ]);
  });

  it.each([
    [
      'an id that is none of its own',
      'Error: --resume requires a valid session ID. Provided value "c-1" is not a UUID.',
      {},
    ],
    [
      'a message that it does not find in it',
      'No message found with message.uuid of: u-1',
      { begun: [] },
    ],
  ])('is the history, where the SDK names %s (§16.15)', async (_, error, more) => {
    const { query, asked } = fakeQuery((call) =>
      call === 1 ? [refused(error)] : [init('c-1'), said('u-1'), result],
    );
    const provider = claudeProvider({ query });
    await eventsOf(provider.run(request({ prompt: 'Hello' })));
    const events = await eventsOf(provider.run(request({ history: first, ...more })));
    expect(events.at(-1)).not.toHaveProperty('error');
    expect(asked.map(({ options }) => options.resume)).toEqual([undefined, 'c-1', undefined]);
    expect(asked[2]?.prompt).toContain('assistant: Hi.');
  });

  it.each<[string, readonly CsdkFrame[]]>([
    ['a bad key', [refused('Invalid API key · Please run /login')]],
    ['another session that is not found', [lost('c-7')]],
    ['a file of it that cannot be read', [refused('EACCES: open projects/c-0.jsonl')]],
    ['an error that says nothing', [broken]],
    ['an end before anything', []],
  ])(
    'stays the session of the SDK after a failure that does not say that it is gone: %s (§16.15)',
    async (_, frames) => {
      const { query, asked } = fakeQuery((call) => (call === 1 ? frames : [init('c-0'), result]));
      const logger = collectingLogger();
      const provider = claudeProvider({ query, logger });
      await eventsOf(provider.run(request({ prompt: 'Hello' })));
      const events = await eventsOf(provider.run(request({ history: first })));
      expect(events.at(-1)).toMatchObject({
        type: 'agent_end',
        error: expect.anything() as unknown,
      });
      await eventsOf(provider.run(request({ history: first })));
      expect(asked.map(({ options }) => options.resume)).toEqual([undefined, 'c-0', 'c-0']);
      expect(logger.messages().join()).not.toContain('is gone');
    },
  );

  it('is kept as a text of its own, and found again by a provider that knows nothing (§16.15)', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), said('u-1'), result]);
    const kept: string[] = [];
    const keepSession = (token: string): void => void kept.push(token);
    await eventsOf(claudeProvider({ query }).run(request({ prompt: 'Hello', keepSession })));
    const providerSession = kept.at(-1) ?? '';
    await eventsOf(claudeProvider({ query }).run(request({ history: first, providerSession })));
    expect(asked[1]).toMatchObject({ prompt: 'And now?', options: { resume: 'c-1' } });
    expect(asked[1]?.options).not.toHaveProperty('resumeSessionAt');
  });

  it('is nothing where the text is not one of its own', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1'), result]);
    for (const providerSession of ['', '{', 'null', '{"session":1}'])
      await eventsOf(claudeProvider({ query }).run(request({ providerSession })));
    expect(asked.map(({ options }) => options.resume)).toEqual(Array(4).fill(undefined));
  });

  it('is gone on from before a prompt that was begun already, so that it is not said twice (§16.14)', async () => {
    const { query, asked } = fakeQuery((call) => [init('c-1'), said(`u-${call}`), result]);
    const kept: string[] = [];
    const keepSession = (token: string): void => void kept.push(token);
    await eventsOf(claudeProvider({ query }).run(request({ prompt: 'Hello', keepSession })));
    const before = kept.at(-1) ?? '';
    const second = { history: first, keepSession };
    await eventsOf(claudeProvider({ query }).run(request({ ...second, providerSession: before })));
    const after = kept.at(-1) ?? '';
    const begun = talk(['And now?', 'I looked.']).slice(1);
    for (const providerSession of [before, after])
      await eventsOf(claudeProvider({ query }).run(request({ ...second, begun, providerSession })));
    for (const { prompt, options } of asked.slice(2)) {
      expect(options).toMatchObject({ resume: 'c-1', resumeSessionAt: 'u-0' });
      expect(prompt.split('And now?')).toHaveLength(2);
      expect(prompt).toContain('assistant: I looked.');
      expect(prompt).not.toContain('Hello');
    }
  });

  it('is the history, where a prompt was begun already and nothing before it is known (§16.14)', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1')]);
    const kept: string[] = [];
    const keepSession = (token: string): void => void kept.push(token);
    await eventsOf(claudeProvider({ query }).run(request({ keepSession })));
    const providerSession = kept.at(-1) ?? '';
    await eventsOf(claudeProvider({ query }).run(request({ begun: [], providerSession })));
    expect(asked[1]).toMatchObject({ prompt: 'And now?' });
    expect(asked[1]?.options).not.toHaveProperty('resume');
  });

  it('is not gone on with if it has a result that was kept back (§16.31)', async () => {
    const raw = { tool_response: { stdout: '4711' } };
    const asked: (string | undefined)[] = [];
    const query: ClaudeQuery = ({ options }) => {
      asked.push(options.resume);
      async function* run(): AsyncGenerator<CsdkFrame, void> {
        yield* [init('c-1'), said('u-1')];
        if (asked.length === 2) {
          const input = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: {} };
          const { signal } = new AbortController();
          const hook = options.hooks?.['PostToolUse']?.[0]?.hooks[0];
          await hook?.({ ...input, ...raw, tool_use_id: 't' }, 't', { signal });
          yield* [callOf('t'), answerTo('t', '4711')];
        }
        yield result;
      }
      return Object.assign(run(), { close: () => undefined });
    };
    const kept: string[] = [];
    const keepSession = (token: string): void => void kept.push(token);
    const no = { content: [{ type: 'text', text: 'no' }], isError: true } as const;
    const mine = request({ history: first, keepSession, toolReturning: async () => no });
    const provider = claudeProvider({ query });
    await eventsOf(provider.run(mine));
    const events = await eventsOf(provider.run(mine));
    expect(JSON.stringify(events.at(-1))).toContain('as it was before it was judged');
    expect(kept.at(-1)).toBe('');
    await eventsOf(provider.run({ ...mine, providerSession: '' }));
    expect(asked).toEqual([undefined, 'c-1', undefined]);
  });
});

describe('a run of Claude', () => {
  it('ends as aborted when its request is, and lets go of the query', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1')], true);
    const stop = new AbortController();
    const events = eventsOf(claudeProvider({ query }).run(request({ signal: stop.signal })));
    stop.abort();
    expect((await events).at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
    expect(asked.every(({ closed }) => closed)).toBe(true);
  });

  it('begins when the one before it in its session has let go', async () => {
    const { query, asked } = fakeQuery(
      (call) => (call === 0 ? [init('c-1')] : [init('c-1'), result]),
      true,
    );
    const provider = claudeProvider({ query });
    const stop = new AbortController();
    const first = eventsOf(provider.run(request({ signal: stop.signal })));
    await settled();
    const second = eventsOf(provider.run(request()));
    const other = eventsOf(provider.run(request({ sessionId: 's-2' })));
    await Promise.all([settled(), other]);
    expect(asked).toHaveLength(2);
    stop.abort();
    await Promise.all([first, second]);
    expect(asked).toHaveLength(3);
  });

  it.each([undefined, 'history'] as const)(
    'asks nothing if its request was aborted before, with memory %s',
    async (memory) => {
      const { query, asked } = fakeQuery(() => [init('c-1')], true);
      const provider = claudeProvider({ query, ...(memory !== undefined && { memory }) });
      const events = await eventsOf(provider.run(request({ signal: AbortSignal.abort() })));
      expect(events.map(({ type }) => type)).toEqual(['agent_start', 'agent_end']);
      expect(asked).toEqual([]);
    },
  );

  it('asks nothing if it was stopped while it waited for the one before it', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1')], true);
    const provider = claudeProvider({ query, memory: 'history' });
    const first = new AbortController();
    const second = new AbortController();
    const before = eventsOf(provider.run(request({ signal: first.signal })));
    await settled();
    const waiting = eventsOf(provider.run(request({ signal: second.signal })));
    await settled();
    second.abort();
    expect((await waiting).at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
    expect(asked).toHaveLength(1);
    first.abort();
    await before;
  });

  it('lets go when its reader leaves, also while it waits', async () => {
    const { query, asked } = fakeQuery(() => [init('c-1')], true);
    const events = claudeProvider({ query }).run(request())[Symbol.asyncIterator]();
    await events.next();
    const pending = events.next();
    await settled();
    await events.return?.();
    expect((await pending).value).toMatchObject({ type: 'agent_end', aborted: true });
    expect(asked).toMatchObject([{ closed: true }]);
    expect(asked[0]?.options.abortController?.signal.aborted).toBe(true);
  });

  it('is interrupted where it is stopped, and keeps the answer that the SDK gives its open tool call (§16.16)', async () => {
    const stop = new AbortController();
    const { query, interrupted } = interruptible(() => [
      answerTo('t', 'The call was interrupted: Ctrl-C.'),
      { ...broken, terminal_reason: 'aborted_tools' },
    ]);
    const provider = claudeProvider({ query });
    const onStart = ({ type }: SessionEvent): void => {
      if (type === 'tool_execution_start') stop.abort();
    };
    const lab = turnLab({ provider, signal: stop.signal, callbacks: { onEvent: onStart } });
    expect((await lab.result).status).toBe('aborted');
    expect(interrupted).toEqual([1]);
    const told = lab.outcomes.find(({ event }) => event.family === 'agent.tool.called');
    expect(told?.payload).toMatchObject({
      isError: true,
      error: 'The call was interrupted: Ctrl-C.',
    });
    expect(lab.written.at(-1)).toMatchObject({
      role: 'toolResult',
      content: [{ text: 'The call was interrupted: Ctrl-C.' }],
    });
  });

  it('is ended before the grace of its turn is over, where an interrupt has no effect (§16.16)', async () => {
    const stop = new AbortController();
    const { query, interrupted } = interruptible(() => []);
    const { clock } = createTestKernel();
    const provider = claudeProvider({ query, clock });
    const events = eventsOf(provider.run(request({ signal: stop.signal, graceMs: 1_000 })));
    await settled();
    stop.abort();
    await settled();
    expect(interrupted).toEqual([1]);
    await clock.advance(749);
    expect(await Promise.race([events, settled()])).toBeUndefined();
    await clock.advance(1);
    expect((await events).at(-1)).toMatchObject({ type: 'agent_end', aborted: true });
  });
});
