import { describe, expect, it } from 'vitest';
import type { AgentTurnCallbacks } from '../../src/agent/index.js';
import { type FamilyName, type Kernel, silentLogger } from '../../src/kernel/internal.js';
import {
  type LegacyHookName,
  legacyHookNames,
  registerLegacyHook,
} from '../../src/openclaw/index.js';
import { end, said, scripted, start, toolEnd, toolStart, turnLab } from '../support/turn-lab.js';

/** A run with one tool call, as the live gateway was asked for it: each message ends before its tools start. */
const oneTool = scripted(async function* ({ gate }) {
  yield start;
  yield* said('Let me look.', { calls: [{ id: 't', name: 'read' }] });
  yield toolStart('t');
  await gate({ toolCallId: 't', toolName: 'read', args: { path: 'a.txt' } });
  yield toolEnd('t');
  yield* said('It is empty.');
  yield end();
});

/** The same as a recording: nobody asks about its tools. */
const recorded = scripted(
  async function* () {
    yield start;
    yield* said('Let me look.', { calls: [{ id: 't', name: 'read' }] });
    yield toolStart('t');
    yield toolEnd('t');
    yield* said('It is empty.');
    yield end();
  },
  { toolGate: 'observe-only' },
);

type Answers = Partial<Record<LegacyHookName, object>>;

/** Registers every plugin hook; each writes its name, and what tells its calls apart. */
function registerHooks(kernel: Kernel, tape: string[], answers: Answers = {}): void {
  for (const hookName of legacyHookNames['2026.3'])
    registerLegacyHook(kernel, {
      pluginId: 'tape',
      hookName,
      handler: ((event: Partial<Record<string, unknown>>) => {
        const message = event['message'] as { readonly role?: string } | undefined;
        const about = message?.role ?? ('messages' in event ? 'messages' : undefined);
        tape.push(
          about === undefined || hookName === 'agent_end' ? hookName : `${hookName} ${about}`,
        );
        return answers[hookName];
      }) as never, // one handler for every hook: each gets what its own event has
    });
}

/** Writes agent events and callbacks; what is repeated at once is written once. */
function taped(tape: string[]): AgentTurnCallbacks {
  const note = (name: string): void => {
    if (tape.at(-1) !== name) tape.push(name);
  };
  return {
    onAgentEvent: ({ stream, data: { phase } }) =>
      note(phase === undefined ? stream : `${stream} ${String(phase)}`),
  };
}

describe('the order of hooks in a whole run', () => {
  it('is the one that was observed on a live gateway (seed 001, hook lifecycle and tool parity; §16.7)', async () => {
    const tape: string[] = [];
    const { result } = turnLab({
      provider: oneTool,
      callbacks: taped(tape),
      contribute: (kernel) => registerHooks(kernel, tape),
    });
    expect(await result).toMatchObject({ status: 'completed' });
    expect(tape).toEqual([
      'before_model_resolve',
      'before_agent_start',
      'before_prompt_build messages',
      'before_agent_start messages',
      'llm_input',
      'lifecycle start',
      'before_message_write user',
      'assistant',
      'before_message_write assistant',
      'tool start',
      'before_tool_call',
      'tool result',
      'after_tool_call',
      'tool_result_persist toolResult',
      'before_message_write toolResult',
      'assistant',
      'before_message_write assistant',
      'lifecycle end',
      'agent_end',
      'llm_output',
    ]);
  });

  it('hands a message over before it is written, and a tool’s output before after_tool_call (seed 001, tool parity)', async () => {
    const tape: string[] = [];
    const { result } = turnLab({
      provider: recorded,
      callbacks: {
        ...taped(tape),
        order: 'seed',
        verboseLevel: 'full',
        blockReplyBreak: 'message_end',
        onBlockReply: ({ text }) => void tape.push(`block ${text}`),
        onBlockReplyFlush: () => void tape.push('flush'),
        onToolResult: () => void tape.push('onToolResult'),
      },
      contribute: (kernel) => registerHooks(kernel, tape),
    });
    await result;
    expect(tape.slice(tape.indexOf('block Let me look.'), -3)).toEqual([
      'block Let me look.',
      'before_message_write assistant',
      'flush',
      'tool start',
      'onToolResult', // the summary
      'before_tool_call',
      'tool result',
      'onToolResult', // the output
      'after_tool_call',
      'tool_result_persist toolResult',
      'before_message_write toolResult',
      'assistant',
      'block It is empty.',
      'before_message_write assistant',
      'lifecycle end',
    ]);
  });

  it('has no second before_agent_start where the first answered: that stands for the prompt (seed 001, rows 2 and 4)', async () => {
    const tape: string[] = [];
    const { result, outcomes } = turnLab({
      contribute: (kernel) =>
        registerHooks(kernel, tape, { before_agent_start: { prependContext: 'Mind the gap.' } }),
    });
    await result;
    expect(tape.filter((name) => name.startsWith('before_agent_start'))).toHaveLength(1);
    const input = outcomes.find(({ event }) => event.family === 'agent.llm.input');
    expect(input?.payload).toMatchObject({ prompt: 'Mind the gap.\n\nhello' });
  });

  it('stands among the canonical stages, where canonical handlers run before the legacy prompt hook', async () => {
    const tape: string[] = [];
    const { result } = turnLab({
      provider: oneTool,
      contribute: (kernel) => {
        registerHooks(kernel, tape);
        const late = (family: FamilyName) =>
          ({
            extensionId: 'zz',
            id: family,
            priority: -1_000,
            handler: () => void tape.push(family),
          }) as const;
        for (const family of ['agent.starting', 'agent.completed'] as const)
          kernel.contribute({ ...late(family), family, class: 'observer' });
        for (const family of ['agent.model.resolving', 'agent.prompt.building'] as const)
          kernel.contribute({ ...late(family), family, class: 'mutator' });
      },
    });
    await result;
    expect(tape.slice(0, 7)).toEqual([
      'agent.starting',
      'before_model_resolve',
      'agent.model.resolving',
      'before_agent_start',
      'before_prompt_build messages',
      'agent.prompt.building',
      'before_agent_start messages',
    ]);
    expect(tape.slice(-3)).toEqual(['agent_end', 'agent.completed', 'llm_output']);
  });

  it('goes through the canonical stages in the order of seed 001', async () => {
    const { result, families } = turnLab({ provider: oneTool });
    await result;
    expect(families().filter((family, at, all) => family !== all[at - 1])).toEqual([
      'agent.starting',
      'agent.answer.resolving',
      'agent.model.resolving',
      'agent.prompt.building',
      'agent.llm.calling',
      'agent.llm.input',
      'transcript.message.writing',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.tool.calling',
      'agent.tool.called',
      'transcript.tool-result.persisting',
      'transcript.message.writing',
      'agent.output.delta',
      'transcript.message.writing',
      'agent.completed',
      'agent.llm.output',
    ]);
  });
});

describe('the order of a compaction (seed 001, compaction parity; §16.6)', () => {
  const begins = { openclaw: ['compaction start', 'before_compaction messages'] };
  it.each([
    ['openclaw', begins.openclaw], // the live system emits the event first
    ['seed', begins.openclaw.toReversed()],
  ] as const)(
    'is, asked for as "%s": start, end, and after_compaction when it is final',
    async (order, first) => {
      const tape: string[] = [];
      const pass = (willRetry: boolean) =>
        [
          { type: 'auto_compaction_start', reason: 'overflow' },
          { type: 'auto_compaction_end', result: {}, aborted: false, willRetry },
        ] as const;
      const { result } = turnLab({
        provider: scripted(async function* () {
          yield start;
          yield* pass(true);
          yield* pass(false);
          yield* said('With room.');
          yield end();
        }),
        callbacks: { ...taped(tape), order },
        contribute: (kernel) => registerHooks(kernel, tape),
      });
      await result;
      const from = tape.indexOf('before_message_write user') + 1;
      expect(tape.slice(from, tape.indexOf('assistant'))).toEqual([
        ...first,
        'compaction end',
        ...first,
        'compaction end',
        'after_compaction',
      ]);
    },
  );
});

describe('the order of a run that ends badly', () => {
  it('has agent_end and llm_output after the lifecycle error (live: a provider that answers 400)', async () => {
    const tape: string[] = [];
    const errorMessage = 'bad request';
    const { result } = turnLab({
      provider: scripted(async function* () {
        yield start;
        yield* said('', { stopReason: 'error', errorMessage });
        yield end({ error: { subtype: 'error', message: errorMessage } });
      }),
      callbacks: taped(tape),
      contribute: (kernel) => registerHooks(kernel, tape),
    });
    expect(await result).toMatchObject({ status: 'failed' });
    expect(tape.slice(-6)).toEqual([
      'lifecycle start',
      'before_message_write user',
      'before_message_write assistant',
      'lifecycle error',
      'agent_end',
      'llm_output',
    ]);
  });

  it('tells no lifecycle end of an aborted run (live: chat.abort in mid stream)', async () => {
    const tape: string[] = [];
    const abort = new AbortController();
    const { result, clock } = turnLab({
      signal: abort.signal,
      provider: scripted(async function* ({ signal }) {
        yield start;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield* said('half', { stopReason: 'aborted' });
        yield end({ aborted: true });
      }),
      callbacks: taped(tape),
      contribute: (kernel) => registerHooks(kernel, tape),
    });
    await clock.advance(1);
    abort.abort();
    expect(await result).toMatchObject({ status: 'aborted' });
    expect(tape.filter((name) => name.startsWith('lifecycle'))).toEqual(['lifecycle start']);
    // the live system writes the aborted message after both; here everything of a run is told before its end
    expect(tape.slice(-3)).toEqual(['before_message_write assistant', 'agent_end', 'llm_output']);
  });

  it('tells a lifecycle error where the provider throws, since no event of its own can', async () => {
    const tape: string[] = [];
    const { result } = turnLab({
      provider: scripted(async function* () {
        yield start;
        yield* said('before');
        throw new Error('connection reset');
      }),
      callbacks: taped(tape),
    });
    expect(await result).toMatchObject({ status: 'failed' });
    expect(tape.at(-1)).toBe('lifecycle error');
  });
});

describe('what is flushed before a tool', () => {
  it('is out before the tool’s veto is asked, and before the tool runs (seed 001, tool flush boundary)', async () => {
    const tape: string[] = [];
    const { result, clock } = turnLab({
      provider: scripted(async function* ({ gate }) {
        yield start;
        yield* said('Let me look.', { calls: [{ id: 't', name: 'read' }] });
        yield toolStart('t');
        await gate({ toolCallId: 't', toolName: 'read', args: {} });
        tape.push('the tool runs');
        yield toolEnd('t');
        yield end();
      }),
      callbacks: {
        order: 'seed',
        onBlockReply: ({ text }) => void tape.push(text),
        onBlockReplyFlush: async () => {
          await new Promise<void>((resolve) => void clock.setTimeout(resolve, 50));
          tape.push('flushed');
        },
        onAgentEvent: ({ stream, data }) => {
          if (stream === 'tool') tape.push(`tool ${String(data['phase'])}`);
        },
      },
      contribute: (kernel) => registerHooks(kernel, tape),
    });
    await clock.advance(100);
    await clock.advance(100);
    await result;
    const from = tape.indexOf('Let me look.');
    expect(tape.slice(from).filter((name) => !name.includes('_message_write'))).toEqual([
      'Let me look.',
      'flushed',
      'tool start',
      'before_tool_call',
      'the tool runs',
      'tool result',
      'after_tool_call',
      'tool_result_persist toolResult',
      'flushed',
      'agent_end',
      'llm_output',
    ]);
  });

  it('holds the gate up also where the provider asks beside its stream', async () => {
    const tape: string[] = [];
    let asked: Promise<unknown> | undefined;
    const { result, clock } = turnLab({
      provider: scripted(async function* ({ gate }) {
        yield start;
        setImmediate(() => {
          asked = gate({ toolCallId: 't', toolName: 'read', args: {} }).then(() =>
            tape.push('allowed'),
          );
        });
        yield toolStart('t');
        await asked;
        yield toolEnd('t');
        yield end();
      }),
      callbacks: {
        onBlockReplyFlush: () =>
          new Promise<void>((resolve) => {
            clock.setTimeout(() => {
              tape.push('flushed');
              resolve();
            }, 50);
          }),
      },
    });
    await clock.advance(10);
    await clock.advance(10);
    expect(asked).toBeDefined();
    expect(tape).toEqual([]);
    await clock.advance(100);
    await clock.advance(100);
    await result;
    expect(tape.slice(0, 2)).toEqual(['flushed', 'allowed']);
  });
});

describe('the trace of a turn', () => {
  it('names the run and the session for each session event and each callback (seed 001)', async () => {
    const called: string[] = [];
    const { result, log } = turnLab({
      provider: oneTool,
      callbacks: {
        onAgentEvent: () => void called.push('onAgentEvent'),
        onPartialReply: () => void called.push('onPartialReply'),
        onBlockReply: () => void called.push('onBlockReply'),
        onEvent: ({ type }) => void called.push(type),
      },
    });
    await result;
    const ids = { runId: 'r-1', sessionId: 's' };
    const traced = log.entries.filter(
      ({ level, message }) => level === 'debug' && /session event|callback/.test(message),
    );
    expect(traced.filter(({ fields }) => fields['type'] === 'agent_start')).toHaveLength(1);
    for (const { fields } of traced) expect(fields).toMatchObject(ids);
    const names = traced.flatMap(({ fields }) => fields['callback'] ?? []);
    const own = called.filter((name) => name.startsWith('on'));
    expect(names.filter((name) => name !== 'onEvent')).toEqual(own);
    expect(names.filter((name) => name === 'onEvent')).toHaveLength(called.length - own.length);
  });

  it('is written without callbacks, too', async () => {
    const { result, log } = turnLab();
    await result;
    const traced = log.entries.filter(({ message }) => message === 'session event');
    expect(traced.at(0)?.fields).toMatchObject({
      runId: 'r-1',
      sessionId: 's',
      type: 'agent_start',
    });
    expect(traced.at(-1)?.fields).toMatchObject({ type: 'agent_end' });
  });
});

it('runs as well with a logger that writes nothing', async () => {
  const { result } = turnLab({ logger: silentLogger });
  expect(await result).toMatchObject({ status: 'completed' });
});
