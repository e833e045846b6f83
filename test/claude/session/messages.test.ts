import { describe, expect, it, vi } from 'vitest';
import { FrameIds } from '../../../src/claude/frames/frame-ids.js';
import {
  type CsdkFrame,
  checkOrdering,
  normalizeSession,
  type SessionDiagnostic,
} from '../../../src/claude/index.js';
import { SessionNormalizer } from '../../../src/claude/session/session-normalizer.js';
import { type AssistantMessage, type SessionEvent, textOf } from '../../../src/sdk/stream/index.js';
import { grownBy } from '../../../src/sdk/stream/internal.js';
import { scriptFrames } from '../../support/csdk-script.js';
import { sessionNotation } from '../../support/session-notation.js';

async function collect(
  frames: Iterable<CsdkFrame> | AsyncIterable<CsdkFrame>,
  told?: SessionDiagnostic[],
) {
  const events: SessionEvent[] = [];
  const onDiagnostic = (one: SessionDiagnostic) => void told?.push(one);
  for await (const event of normalizeSession(frames, { onDiagnostic })) events.push(event);
  return events;
}

function messagesIn(events: readonly SessionEvent[]): readonly AssistantMessage[] {
  return events.flatMap((event) => (event.type === 'message_end' ? [event.message] : []));
}

async function messagesOf(script: string): Promise<readonly AssistantMessage[]> {
  return messagesIn(await collect(scriptFrames(script)));
}

const user = (fields: Record<string, unknown>): CsdkFrame => ({ type: 'user', ...fields });
const raw = (event: Record<string, unknown>): CsdkFrame => ({ type: 'stream_event', event });

describe('a message', () => {
  it('holds its blocks as plain data, signatures byte for byte (csdk §3.8)', async () => {
    const [message] = await messagesOf(
      'ms(m1) bs0:redacted bx0 bs1:thk h1"why" sig1 bx1 bs2:text d2"Hi" bx2 bs3:tu t1 Bash j3"{\\"a\\":1}" bx3 mx R(ok)',
    );
    expect(message?.content).toEqual([
      { type: 'thinking', thinking: '', thinkingSignature: 'opaque', redacted: true },
      { type: 'thinking', thinking: 'why', thinkingSignature: 'c2lnbmVk' },
      { type: 'text', text: 'Hi' },
      { type: 'toolCall', id: 't1', name: 'Bash', arguments: { a: 1 } },
    ]);
    for (const block of message?.content ?? [])
      for (const field of Object.values(Object.getOwnPropertyDescriptors(block)))
        expect(field).toHaveProperty('value');
    expect(message).toMatchObject({ role: 'assistant', provider: 'anthropic', model: 'model-1' });
  });

  it('holds what the complete frame says where the deltas said otherwise (csdk §3.6)', async () => {
    const told: SessionDiagnostic[] = [];
    const events = await collect(
      scriptFrames('ms(m1) bs0:text d0"Foo" bx0 A(m1)[text"Bars"] mx R(ok)'),
      told,
    );
    const end = events.find(({ type }) => type === 'message_end');
    expect(end).toMatchObject({ message: { content: [{ type: 'text', text: 'Bars' }] } });
    expect(told).toEqual([
      {
        kind: 'diverging_text',
        messageId: 'm1',
        contentIndex: 0,
        streamedChars: 3,
        completeChars: 4,
        count: 1,
      },
    ]);
  });

  it('is live while it grows: every event of it has the same message, with the text so far', async () => {
    const seen: string[] = [];
    const messages = new Set<unknown>();
    const frames = scriptFrames(
      'ms(m1) bs0:thk h0"t" bx0 bs1:text d1"He" d1"llo" A(m1)[text"Hello"] bx1 mx R(ok)',
    );
    for await (const event of normalizeSession(frames)) {
      if (event.type === 'message_start' || event.type === 'message_end')
        messages.add(event.message);
      if (event.type !== 'message_update') continue;
      messages.add(event.message).add(event.assistantMessageEvent.partial);
      seen.push(`${textOf(event.message)} ${JSON.stringify(event.message.content.at(0))}`);
    }
    expect(messages.size).toBe(1);
    const thought = '{"type":"thinking","thinking":"t"}';
    expect(seen.slice(3)).toEqual([
      ` ${thought}`,
      `He ${thought}`,
      `Hello ${thought}`,
      `Hello ${thought}`,
    ]);
  });

  it('counts its tokens once, however many frames it has (csdk §3.9)', async () => {
    const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 4 };
    const frame = (text: string): CsdkFrame => ({
      type: 'assistant',
      message: { id: 'm1', content: [{ type: 'text', text }], usage },
    });
    const end = raw({
      type: 'message_delta',
      delta: {},
      usage: { output_tokens: 20, input_tokens: null },
    });
    const start = raw({ type: 'message_start', message: { id: 'm1', content: [], usage } });
    const events = await collect([
      start,
      frame('a'),
      frame('b'),
      end,
      raw({ type: 'message_stop' }),
    ]);
    expect(events.find(({ type }) => type === 'message_end')).toMatchObject({
      message: { usage: { input: 10, output: 20, cacheRead: 4, cacheWrite: 0, totalTokens: 34 } },
    });
  });

  it('tells the text of an API error as its error, or the code where it has none (csdk §3.10)', async () => {
    expect(await messagesOf('A(m1)[text"API Error: 529"]!error R(err)')).toMatchObject([
      { stopReason: 'error', errorMessage: 'API Error: 529' },
    ]);
    expect(await messagesOf('A(m1)[]!error R(err)')).toMatchObject([
      { errorMessage: 'overloaded' },
    ]);
  });

  it('is read from a delta whose block holds its first words', async () => {
    const start = {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: 'He' },
    };
    const [begin, ...rest] = scriptFrames('ms(m1) d0"llo" bx0 mx R(ok)');
    const events = await collect([...(begin ? [begin] : []), raw(start), ...rest]);
    expect(
      textOf(
        events.flatMap((one) => (one.type === 'message_end' ? [one.message] : []))[0] ?? {
          role: 'user',
          content: '',
        },
      ),
    ).toBe('Hello');
  });
});

describe('a tool’s result', () => {
  const block = (id: string, content: unknown) => ({
    type: 'tool_result',
    tool_use_id: id,
    content,
  });

  it('is its structured form, where the frame has that of one result alone (csdk §4.4)', async () => {
    const events = await collect([
      ...scriptFrames('A(m1)[tu t1 A {}, tu t2 B {}, tu t3 C {}]'),
      user({ message: { content: [block('t1', 'one')] }, tool_use_result: { stdout: 'one' } }),
      user({
        message: { content: [block('t2', 'two'), block('t3', 'three')] },
        tool_use_result: { stdout: '?' },
      }),
    ]);
    const results = events.flatMap((event) =>
      event.type === 'tool_execution_end' ? [event.result] : [],
    );
    expect(results).toEqual([{ stdout: 'one' }, 'two', 'three']);
  });
});

describe('a tool of the model’s provider', () => {
  it('fails by its flag, too, and is no call of the message (csdk §4.7)', async () => {
    const content = [
      { type: 'mcp_tool_use', id: 's1', name: 'find', server_name: 'docs', input: { q: 1 } },
      { type: 'mcp_tool_result', tool_use_id: 's1', is_error: true, content: 'down' },
      { type: 'text', text: 'hm' },
    ];
    const events = await collect([{ type: 'assistant', message: { id: 'm1', content } }]);
    const call = { toolCallId: 's1', toolName: 'find' };
    expect(events).toContainEqual({ type: 'tool_execution_start', ...call, args: { q: 1 } });
    expect(events).toContainEqual({
      type: 'tool_execution_end',
      ...call,
      result: 'down',
      isError: true,
    });
    expect(events.find(({ type }) => type === 'message_end')).toMatchObject({
      message: { content: [{ type: 'text', text: 'hm' }], stopReason: 'stop' },
    });
  });
});

describe('a subagent', () => {
  it('has whole blocks as updates, with who it is; its prompt is its call’s arguments already (csdk §4.6)', async () => {
    const own = { parent_tool_use_id: 'p', agent_id: 'a1', subagent_type: 'Explore' };
    const text = { type: 'text', text: 'found it' };
    const events = await collect([
      ...scriptFrames('A(m1)[tu p Task {}]'),
      user({ ...own, message: { content: [{ type: 'text', text: 'Look.' }] } }),
      { type: 'assistant', ...own, message: { id: 's1', content: [text] } },
    ]);
    const updates = events.flatMap((event) =>
      event.type === 'tool_execution_update' ? [event.partialResult] : [],
    );
    expect(updates).toEqual([
      {
        kind: 'subagent',
        lane: 'p',
        role: 'assistant',
        block: text,
        agentId: 'a1',
        subagentType: 'Explore',
      },
    ]);
  });
});

describe('the end', () => {
  const end = async (...frames: readonly CsdkFrame[]) => (await collect(frames)).at(-1);
  const result = (fields: Record<string, unknown>): CsdkFrame => ({ type: 'result', ...fields });

  it('tells the first error for people, else the text, else what the last message said, else the subtype (csdk §6.2)', async () => {
    const failed = { subtype: 'error_max_turns', is_error: true };
    const internal = '[ede_diagnostic] x';
    expect(await end(result({ ...failed, errors: [internal, 'Too many turns'] }))).toMatchObject({
      error: { subtype: 'error_max_turns', message: 'Too many turns' },
    });
    expect(
      await end(result({ is_error: true, subtype: 'success', result: 'Not logged in' })),
    ).toMatchObject({
      error: { subtype: 'error', message: 'Not logged in' },
    });
    const [error] = scriptFrames('A(m1)[text"API Error: 500"]!error');
    expect(
      await end(...(error ? [error] : []), result({ ...failed, errors: [internal], result: '' })),
    ).toMatchObject({
      error: { message: 'API Error: 500' },
    });
    expect(await end(result({ ...failed, errors: [] }))).toMatchObject({
      error: { message: 'error_max_turns' },
    });
  });

  it('takes an interrupted run as aborted, although its result is an error (csdk §6.2)', async () => {
    for (const terminal_reason of ['aborted_tools', 'aborted_streaming'])
      expect(
        await end(result({ subtype: 'error_during_execution', is_error: true, terminal_reason })),
      ).toEqual({ type: 'agent_end', messages: [], aborted: true });
  });

  it('has the messages, and the tokens and the cost of the result', async () => {
    const events = await collect([
      ...scriptFrames('A(m1)[text"a"] A(m2)[text"b"]'),
      result({
        subtype: 'success',
        usage: { input_tokens: 3, output_tokens: 2 },
        total_cost_usd: 0.5,
      }),
    ]);
    expect(events.at(-1)).toMatchObject({
      messages: [{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }],
      usage: { input: 3, output: 2, totalTokens: 5, costUsd: 0.5 },
    });
  });

  it('adds the tokens of several turns up, and takes the cost as it is: the SDK adds that up (csdk §7.4)', async () => {
    const events: SessionEvent[] = [];
    const frames = [
      result({
        subtype: 'success',
        usage: { input_tokens: 3, output_tokens: 2 },
        total_cost_usd: 0.5,
        queued_turn_count: 1,
      }),
      result({
        subtype: 'success',
        usage: { input_tokens: 4, output_tokens: 1 },
        total_cost_usd: 0.7,
      }),
    ];
    for await (const event of normalizeSession(frames, { end: 'idle' })) events.push(event);
    expect(events.at(-1)).toMatchObject({
      usage: { input: 7, output: 3, totalTokens: 10, costUsd: 0.7 },
    });
  });
});

describe('a compaction', () => {
  it('says why it began, and what came of it (csdk §5.5)', async () => {
    const boundary = (trigger: string): CsdkFrame => ({
      type: 'system',
      subtype: 'compact_boundary',
      compact_metadata: { trigger, pre_tokens: 9 },
    });
    const status = (fields: Record<string, unknown>): CsdkFrame => ({
      type: 'system',
      subtype: 'status',
      ...fields,
    });
    const told = async (...frames: readonly CsdkFrame[]) =>
      (await collect(frames)).filter(({ type }) => type.startsWith('auto_compaction'));
    expect(await told(boundary('auto'))).toEqual([
      { type: 'auto_compaction_start', reason: 'threshold' },
      {
        type: 'auto_compaction_end',
        result: { trigger: 'auto', pre_tokens: 9 },
        aborted: false,
        willRetry: false,
      },
    ]);
    expect(await told(boundary('manual'))).toMatchObject([{ reason: 'manual' }, {}]);
    expect(
      await told(
        status({ status: 'compacting' }),
        status({
          status: null,
          compact_result: 'failed',
          compact_error: 'too short',
          will_retry: true,
        }),
      ),
    ).toEqual([
      { type: 'auto_compaction_start', reason: 'manual' },
      { type: 'auto_compaction_end', aborted: false, willRetry: true, errorMessage: 'too short' },
    ]);
    expect((await told(status({ status: 'compacting' }))).at(-1)).toMatchObject({ aborted: true });
  });
});

describe('diagnostics', () => {
  it('count each kind by itself', async () => {
    const told: SessionDiagnostic[] = [];
    await collect(
      scriptFrames(
        '«future_type» «system/future» «future_type» U[tr t1 ok "x"] U[tr t1 ok "x"] R(ok)',
      ),
      told,
    );
    expect(told).toEqual([
      { kind: 'unknown_frame', type: 'future_type', count: 1 },
      { kind: 'unknown_frame', type: 'system', subtype: 'future', count: 2 },
      { kind: 'unknown_frame', type: 'future_type', count: 3 },
      { kind: 'repeated_tool_result', toolCallId: 't1', count: 1 },
    ]);
  });

  it('name frames that lack what they should have', async () => {
    const told: SessionDiagnostic[] = [];
    await collect(
      [{ type: 'assistant' }, user({}), { type: 'stream_event' }, raw({ type: 'message_start' })],
      told,
    );
    expect(told.map((one) => [one.kind, 'type' in one && one.type])).toEqual([
      ['malformed_frame', 'assistant'],
      ['malformed_frame', 'user'],
      ['malformed_frame', 'stream_event'],
      ['malformed_frame', 'stream_event'],
    ]);
  });

  it('name what is no frame at all, and the run goes on (csdk §8.2)', async () => {
    const told: SessionDiagnostic[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const given = [null, undefined, 'text', ...scriptFrames('A(m1)[text"a"] R(ok)')] as never;
    const events: SessionEvent[] = [];
    const onDiagnostic = (one: SessionDiagnostic) => void told.push(one);
    for await (const event of normalizeSession(given, { onDiagnostic, logger })) events.push(event);
    expect(sessionNotation(events)).toMatch(/TE0"a" ME\(stop\) AE\(ok\)$/);
    expect(told.map((one) => [one.kind, 'type' in one && one.type])).toEqual([
      ['malformed_frame', 'object'],
      ['malformed_frame', 'undefined'],
      ['malformed_frame', 'string'],
    ]);
  });

  it('take a word that every object knows for a word, and not for what objects have by it', async () => {
    const content = [{ type: 'text', text: 'a' }];
    const events = await collect([
      raw({ type: 'message_start', message: { id: 'm1' } }),
      { type: 'assistant', message: { id: 'm1', content, stop_reason: 'constructor' } },
      ...scriptFrames('bs1:tu t1 Bash bx1 mx'),
      { type: 'system', subtype: 'toString', task_id: 'a', tool_use_id: 't1' },
    ]);
    const end = events.find(({ type }) => type === 'message_end');
    expect(end).toMatchObject({ message: { stopReason: 'stop' } });
    expect(events.filter(({ type }) => type === 'tool_execution_update')).toEqual([]);
  });

  it.each([1e99, -1, '0'])(
    'give the blocks of a message numbers of their own, also after one of %s (csdk §3.4)',
    async (index) => {
      const begins = (at: unknown) =>
        raw({ type: 'content_block_start', index: at, content_block: { type: 'text', text: 'a' } });
      const start = raw({ type: 'message_start', message: { id: 'm1' } });
      const events = await collect([start, begins(index), begins(1), begins(2)]);
      expect(checkOrdering(events)).toEqual([]);
      expect(textOf(messagesIn(events)[0] as AssistantMessage)).toBe('aaa');
    },
  );

  it('say which frames the SDK took back', async () => {
    const told: SessionDiagnostic[] = [];
    const fallback = {
      type: 'system',
      subtype: 'model_refusal_fallback',
      retracted_message_uuids: ['u1', 'u2'],
    };
    await collect([fallback], told);
    expect(told).toEqual([
      { kind: 'retracted', uuids: ['u1', 'u2'], by: 'model_refusal_fallback', count: 1 },
    ]);
  });
});

describe('memory and work', () => {
  it('hold, of a text that grows by single characters, little beside the text (csdk §3.11)', () => {
    const join = vi.spyOn(Array.prototype, 'join'); // what is held beside the text are the pieces since the last join
    let text = '';
    for (let i = 0; i < 100_000; i++) text = grownBy(text, 'x');
    const joined = join.mock.contexts.map((pieces) => String(Object(pieces)[0]).length);
    join.mockRestore();
    const held = joined.map((length, at) => length - (joined[at - 1] ?? 0));
    expect(held.every((pieces, at) => pieces <= Math.max(64, (joined[at] ?? 0) / 32))).toBe(true);
    expect(joined.at(-1)).toBeGreaterThan(97_000); // all but the last pieces are joined already
    const work = joined.reduce((sum, length) => sum + length, 0);
    expect(work).toBeLessThanOrEqual(100_000 * 128); // no quadratic joining
    expect(text).toBe('x'.repeat(100_000));
  });

  it('take a turn of 10 MB in deltas of one character, and give its text (csdk §3.11)', () => {
    const size = 10_000_000;
    const [start, block, one, stop, done, result] = scriptFrames(
      'ms(m1) bs0:text d0"x" bx0 mx R(ok)',
    );
    function* turn() {
      if (start && block) yield* [start, block];
      for (let i = 0; i < size; i++) if (one) yield one;
      if (stop && done && result) yield* [stop, done, result];
    }
    let deltas = 0;
    let length = 0;
    const session = new SessionNormalizer(
      {},
      (event) => {
        if (event.type === 'message_update' && 'delta' in event.assistantMessageEvent) deltas++;
        if (event.type === 'message_end') length = textOf(event.message).length;
      },
      () => undefined,
    );
    for (const frame of turn()) session.take(frame);
    expect([deltas, length]).toEqual([size, size]);
  });

  it('remember the frames of late, not all that ever were (csdk §8.3)', () => {
    const ids = new FrameIds();
    expect(ids.isRepeated('user', 'u0')).toBe(false);
    expect(ids.isRepeated('user', 'u0')).toBe(true);
    expect(ids.isRepeated('assistant', 'u0')).toBe(false); // recordings with one word for every uuid
    for (let i = 1; i <= 4_096; i++) ids.isRepeated('user', `u${i}`);
    expect(ids.isRepeated('user', 'u4000')).toBe(true);
    for (let i = 1; i <= 10_000; i++) ids.isRepeated('user', `v${i}`);
    expect(ids.isRepeated('user', 'u4000')).toBe(false);
    expect([ids.isRepeated('user', '<redacted>'), ids.isRepeated('user', '<redacted>')]).toEqual([
      false,
      false,
    ]);
  });
});
