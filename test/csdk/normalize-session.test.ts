import { describe, expect, it } from 'vitest';
import { type CsdkFrame, normalizeSession, readFrames, splitRuns } from '../../src/csdk/index.js';
import { type SessionEvent, textOf } from '../../src/stream/index.js';
import { recordings, visibleTexts } from '../support/recordings.js';

async function framesOf(lines: readonly string[]): Promise<readonly CsdkFrame[]> {
  const frames: CsdkFrame[] = [];
  for await (const frame of readFrames(lines, ({ problem }) => expect.fail(problem)))
    frames.push(frame);
  return frames;
}

async function eventsOf(frames: Iterable<CsdkFrame> | AsyncIterable<CsdkFrame>) {
  const events: SessionEvent[] = [];
  for await (const event of normalizeSession(frames)) events.push(event);
  return events;
}

/** The texts of a run as its deltas add up, message by message. */
function streamedTexts(events: readonly SessionEvent[]): string[] {
  const texts: string[] = [];
  for (const event of events) {
    if (event.type === 'message_start') texts.push('');
    if (event.type !== 'message_update') continue;
    const { assistantMessageEvent: update } = event;
    if (update.type === 'text_delta') texts.push(`${texts.pop() ?? ''}${update.delta}`);
  }
  return texts.filter((text) => text !== '');
}

function wholeTexts(events: readonly SessionEvent[]): string[] {
  return events
    .flatMap((event) => (event.type === 'message_end' ? [textOf(event.message)] : []))
    .filter((text) => text !== '');
}

/** The order of a run, one word an event. */
function order(events: readonly SessionEvent[]): string[] {
  return events.map((event) =>
    event.type === 'message_update' ? event.assistantMessageEvent.type : event.type,
  );
}

const frame = (type: string, fields: Record<string, unknown>): CsdkFrame => ({ type, ...fields });
const raw = (event: Record<string, unknown>) =>
  frame('stream_event', { event, parent_tool_use_id: null });
const start = (id: string) =>
  raw({ type: 'message_start', message: { id, role: 'assistant', content: [] } });
const textStart = (index = 0) =>
  raw({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
const delta = (text: string, index = 0) =>
  raw({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } });
const stop = (index = 0) => raw({ type: 'content_block_stop', index });
const done = raw({ type: 'message_stop' });
const assistant = (id: string, content: readonly unknown[], fields: Record<string, unknown> = {}) =>
  frame('assistant', {
    message: { id, content, stop_reason: null },
    parent_tool_use_id: null,
    ...fields,
  });
const text = (value: string) => ({ type: 'text', text: value });
const toolUse = (id: string, name: string, input: unknown) => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const toolResult = (id: string, content: string, isError = false) =>
  frame('user', {
    message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] },
    parent_tool_use_id: null,
  });
const result = frame('result', { subtype: 'success', is_error: false, usage: { input_tokens: 3 } });

describe('the recordings', () => {
  it.each(recordings())(
    '$name: each visible text comes once, as deltas and as messages',
    async ({ lines }) => {
      const runs = splitRuns(await framesOf(lines));
      const events = (await Promise.all(runs.map(eventsOf))).flat();
      expect(wholeTexts(events)).toEqual(visibleTexts(lines));
      expect(streamedTexts(events)).toEqual(visibleTexts(lines));
    },
  );

  it.each(recordings())(
    '$name: every run begins, ends, and pairs what it opens',
    async ({ lines }) => {
      for (const run of splitRuns(await framesOf(lines))) {
        const events = await eventsOf(run);
        expect(
          order(events).filter((type) => type === 'agent_start' || type === 'agent_end'),
        ).toEqual(['agent_start', 'agent_end']);
        expect(events.at(0)?.type).toBe('agent_start');
        expect(events.at(-1)?.type).toBe('agent_end');
        let open = 0;
        const tools = new Map<string, string>();
        for (const event of events) {
          if (event.type === 'message_start') expect(++open).toBe(1);
          if (event.type === 'message_end') expect(--open).toBe(0);
          if (event.type === 'message_update') expect(open).toBe(1);
          if (event.type === 'tool_execution_start') {
            expect(tools.has(event.toolCallId)).toBe(false);
            tools.set(event.toolCallId, event.toolName);
          }
          if (event.type === 'tool_execution_end') {
            expect(tools.get(event.toolCallId)).toBe(event.toolName);
            tools.set(event.toolCallId, 'ended');
          }
        }
        expect([...tools.values()].filter((state) => state !== 'ended')).toEqual([]);
      }
    },
  );
});

describe('normalizeSession', () => {
  const cases: readonly (readonly [
    string,
    readonly CsdkFrame[],
    readonly string[],
    readonly string[],
  ])[] = [
    [
      'a block’s complete frame before its stop adds nothing',
      [
        start('m1'),
        textStart(),
        delta('Hel'),
        delta('lo'),
        assistant('m1', [text('Hello')]),
        stop(),
        done,
        result,
      ],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['Hello'],
    ],
    [
      'a complete frame after the message’s stop adds nothing',
      [
        start('m1'),
        textStart(),
        delta('Hello'),
        stop(),
        done,
        assistant('m1', [text('Hello')]),
        result,
      ],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['Hello'],
    ],
    [
      'a missing suffix comes as a delta',
      [
        start('m1'),
        textStart(),
        delta('Good mor'),
        assistant('m1', [text('Good morning')]),
        stop(),
        done,
        result,
      ],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['Good morning'],
    ],
    [
      'a complete frame that says something else takes nothing back',
      [
        start('m1'),
        textStart(),
        delta('Foo'),
        assistant('m1', [text('Bar')]),
        stop(),
        done,
        result,
      ],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['Foo'],
    ],
    [
      'a late delta is dropped',
      [start('m1'), textStart(), delta('A'), stop(), done, delta('Z'), result],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['A'],
    ],
    [
      'a delta without the start of its block opens it',
      [start('m1'), delta('A'), stop(), done, result],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['A'],
    ],
    [
      'the same text in two messages comes twice',
      [assistant('m1', [text('same')]), assistant('m2', [text('same')]), result],
      [
        'agent_start',
        ...['message_start', 'text_start', 'text_delta', 'text_end', 'message_end'],
        ...['message_start', 'text_start', 'text_delta', 'text_end', 'message_end'],
        'agent_end',
      ],
      ['same', 'same'],
    ],
    [
      'an attempt that was given up before its content leaves no trace',
      [start('m1'), start('m2'), textStart(), delta('full'), stop(), done, result],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['full'],
    ],
    [
      'a tool without partial messages runs between its message’s start and end',
      [assistant('m1', [toolUse('t1', 'Read', { p: 1 })]), toolResult('t1', 'x'), result],
      [
        'agent_start',
        'message_start',
        'tool_execution_start',
        'tool_execution_end',
        'message_end',
        'agent_end',
      ],
      [],
    ],
    [
      'a tool’s second result is dropped',
      [
        assistant('m1', [toolUse('t1', 'Read', {})]),
        toolResult('t1', 'x'),
        toolResult('t1', 'x'),
        result,
      ],
      [
        'agent_start',
        'message_start',
        'tool_execution_start',
        'tool_execution_end',
        'message_end',
        'agent_end',
      ],
      [],
    ],
    [
      'a subagent’s text is never main text',
      [
        assistant('m1', [text('main')]),
        assistant('m2', [text('sub')], { parent_tool_use_id: 't1' }),
        result,
      ],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['main'],
    ],
    [
      'unknown frames pass without effect',
      [
        frame('future_type', {}),
        frame('system', { subtype: 'init' }),
        assistant('m1', [text('a')]),
        result,
      ],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['a'],
    ],
    [
      'what follows the result is not part of the run',
      [assistant('m1', [text('a')]), result, assistant('m2', [text('b')])],
      [
        'agent_start',
        'message_start',
        'text_start',
        'text_delta',
        'text_end',
        'message_end',
        'agent_end',
      ],
      ['a'],
    ],
  ];
  it.each(cases)('%s', async (_title, frames, expected, texts) => {
    const events = await eventsOf(frames);
    expect(order(events)).toEqual(expected);
    expect(wholeTexts(events)).toEqual(texts);
  });

  it('names a tool’s result by the call, and gives its arguments parsed', async () => {
    const events = await eventsOf([
      start('m1'),
      raw({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't1', name: 'Bash' },
      }),
      raw({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"a"' },
      }),
      raw({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: ':1}' },
      }),
      stop(),
      done,
      toolResult('t1', 'no', true),
      result,
    ]);
    expect(events).toContainEqual({
      type: 'tool_execution_start',
      toolCallId: 't1',
      toolName: 'Bash',
      args: { a: 1 },
    });
    expect(events).toContainEqual({
      type: 'tool_execution_end',
      toolCallId: 't1',
      toolName: 'Bash',
      result: 'no',
      isError: true,
    });
  });

  it('ends in an error where the stream ends before its result, and keeps what was said', async () => {
    const events = await eventsOf([start('m1'), textStart(), delta('half')]);
    expect(wholeTexts(events)).toEqual(['half']);
    expect(events.at(-1)).toMatchObject({ type: 'agent_end', error: { subtype: 'stream_closed' } });
    expect(events.at(-2)).toMatchObject({
      type: 'message_end',
      message: { stopReason: 'aborted' },
    });
  });

  it('ends in an error where the stream throws', async () => {
    async function* broken() {
      yield assistant('m1', [text('a')]);
      throw new Error('the pipe broke');
    }
    const events = await eventsOf(broken());
    expect(events.at(-1)).toMatchObject({
      error: { subtype: 'threw', message: 'Error: the pipe broke' },
    });
  });

  it('tells the error of an error result, without internal diagnostics', async () => {
    const failed = frame('result', {
      subtype: 'error_max_turns',
      is_error: true,
      errors: ['[ede_diagnostic] x', 'Reached maximum number of turns (1)'],
    });
    const events = await eventsOf([failed]);
    expect(events.at(-1)).toMatchObject({
      error: { subtype: 'error_max_turns', message: 'Reached maximum number of turns (1)' },
    });
  });

  it('takes an aborted run as aborted, although its result is an error', async () => {
    const aborted = {
      subtype: 'error_during_execution',
      is_error: true,
      terminal_reason: 'aborted_tools',
    };
    expect((await eventsOf([frame('result', aborted)])).at(-1)).toMatchObject({ aborted: true });
  });

  it('takes a turn of 100 000 deltas', async () => {
    const many = Array.from({ length: 100_000 }, () => delta('x'));
    const events = await eventsOf([start('m1'), textStart(), ...many, stop(), done, result]);
    expect(wholeTexts(events)[0]).toHaveLength(100_000);
  });
});
