import { describe, expect, it } from 'vitest';
import type { CoderStreamEvent } from '../../src/claude/coder/blocks/coder-event.js';
import { toCoderEvents } from '../../src/claude/coder/to-coder-events.js';

/** The events of a message without what all of them carry. */
function bodies(message: unknown, threadId?: string): object[] {
  const options = threadId === undefined ? {} : { threadId };
  return toCoderEvents(message, options).map(({ provider, ts, originalItem, ...body }) => body);
}

const done = { type: 'done' };
const usage = { input_tokens: 3, output_tokens: 4, service_tier: 'x' };
const stats = { ...usage, inputTokens: 3, outputTokens: 4 };
const failure = (message: string) => [{ type: 'error', message }];

describe('every event of toCoderEvents (C1)', () => {
  it('carries the provider, the time, and the message itself', () => {
    const message = Object.freeze({ type: 'Completed', usage: Object.freeze(usage) });
    const events = toCoderEvents(message, { now: () => 42 });
    expect(events.map(({ type }) => type)).toEqual(['usage', 'done']);
    for (const event of events) {
      expect(event).toMatchObject({ provider: 'claude', ts: 42 });
      expect(event.originalItem).toBe(message);
    }
  });

  it('shares one reading of the clock with the others of its message', () => {
    let time = 0;
    const events = toCoderEvents({ type: 'result', usage }, { now: () => ++time });
    expect(events.map(({ ts }) => ts)).toEqual([1, 1]);
  });

  it('is of the time of the system where no clock is given', () => {
    const before = Date.now();
    const [event] = toCoderEvents({ type: 'x' });
    expect(event?.ts).toBeGreaterThanOrEqual(before);
    expect(event?.ts).toBeLessThanOrEqual(Date.now());
  });
});

describe('the table of seed 002 (C2)', () => {
  const cases: readonly (readonly [row: string, message: unknown, events: readonly object[]])[] = [
    ['init: SDKInit', { type: 'SDKInit', model: 'm' }, [{ type: 'init', model: 'm' }]],
    ['init: System', { type: 'System' }, [{ type: 'init' }]],
    ['init: contains system (C3)', { type: 'SystemMessage' }, [{ type: 'init' }]],
    ['init: a session', { session_id: 's' }, [{ type: 'init', threadId: 's' }]],
    [
      'init: a session, before any other row',
      { type: 'result', session_id: 's', usage },
      [{ type: 'init', threadId: 's' }],
    ],
    [
      'partial: text',
      { type: 'PartialAssistant', text: ' a ', content: 'b' },
      [{ type: 'message', role: 'assistant', delta: true, text: ' a ' }],
    ],
    [
      'partial: content',
      { type: 'assistant_partial', content: 'b ' },
      [{ type: 'message', role: 'assistant', delta: true, text: 'b ' }],
    ],
    [
      'partial: a list of blocks is no text (C3)',
      { type: 'partial', content: [{ type: 'text', text: 'c' }] },
      [{ type: 'message', role: 'assistant', delta: true, text: 'c' }],
    ],
    [
      'partial: extracted',
      { type: 'partial', delta: { text: 'd' } },
      [{ type: 'message', role: 'assistant', delta: true, text: 'd' }],
    ],
    [
      'assistant: its blocks',
      {
        type: 'assistant',
        message: { content: [{ text: 'a' }, { type: 'tool_use' }, { text: '' }, { text: 'b ' }] },
      },
      [{ type: 'message', role: 'assistant', text: 'a\nb' }],
    ],
    [
      'assistant: text before content',
      { type: 'AssistantMessage', text: 'a', content: 'b' },
      [{ type: 'message', role: 'assistant', text: 'a' }],
    ],
    [
      'assistant: on to the next candidate where one is empty',
      { type: 'assistant', content: [], message: { text: { text: 'c' } } },
      [{ type: 'message', role: 'assistant', text: 'c' }],
    ],
    [
      'assistant: nothing to say',
      { type: 'assistant' },
      [{ type: 'message', role: 'assistant', text: '' }],
    ],
    [
      'tool_use: modern names',
      { type: 'tool_use', name: 'Bash', tool_name: 'x', id: 't', input: { a: 1 } },
      [{ type: 'tool_use', name: 'Bash', callId: 't', args: { a: 1 } }],
    ],
    ['tool_use: legacy names', { type: 'ToolUse', tool_name: 'A', tool: 'B' }, [toolUse('A')]],
    ['tool_use: the oldest name', { type: 'tooluse', tool: 'B' }, [toolUse('B')]],
    ['tool_use: no name at all (C3)', { type: 'tool_use' }, [toolUse('unknown')]],
    ['tool_use: whatever contains it', { type: 'tool_use_summary' }, [toolUse('unknown')]],
    [
      'tool-result: by the id of its call',
      { type: 'tool-result', name: 'Bash', tool_use_id: 't', id: 'r', output: 'x' },
      [{ type: 'tool_result', name: 'Bash', callId: 't', result: 'x' }],
    ],
    [
      'toolresult: by its own id',
      { type: 'ToolResult', tool: 'Bash', id: 'r', output: { stdout: 'x' } },
      [{ type: 'tool_result', name: 'Bash', callId: 'r', result: { stdout: 'x' } }],
    ],
    ['tool_result with an underscore is a result (C3)', { type: 'tool_result' }, [done]],
    [
      'permission',
      { type: 'PermissionRequest', request: { tool: 'Bash' }, decision: 'granted' },
      [{ type: 'permission', request: { tool: 'Bash' }, decision: 'granted' }],
    ],
    ['result with usage', { type: 'result', usage }, [{ type: 'usage', stats }, done]],
    ['result without', { type: 'Result' }, [done]],
    [
      'result: is_error',
      { type: 'result', subtype: 'success', is_error: true, result: 'no credit', usage },
      failure('The Claude run failed: no credit'),
    ],
    [
      'result: a subtype of error',
      { type: 'result', subtype: 'error_max_turns', errors: ['a', 'b'] },
      failure('The Claude run failed: a, b'),
    ],
    [
      'result: an error that says nothing for people (C3)',
      { type: 'result', subtype: 'error_x', errors: ['[ede_diagnostic] y'], result: '' },
      failure('The Claude run failed: error_x'),
    ],
    [
      'result: an error that says nothing at all',
      { type: 'result', is_error: 1 },
      failure('The Claude run failed.'),
    ],
    ['completed', { type: 'Completed', usage }, [{ type: 'usage', stats }, done]],
    ['final, error or not', { type: 'FinalMessage', is_error: true }, [done]],
    ['any other', { type: 'ToolProgress' }, [{ type: 'progress', label: 'ToolProgress' }]],
    ['no type', {}, [{ type: 'progress', label: 'claude.event' }]],
    ['an empty type (C3)', { type: '' }, [{ type: 'progress', label: '' }]],
    ['a number for a type (C3)', { type: 7 }, [{ type: 'progress', label: '7' }]],
    ['a type with parts', { type: {} }, [{ type: 'progress', label: 'claude.event' }]],
    ['null', null, [{ type: 'progress', label: 'claude.event' }]],
    ['undefined', undefined, [{ type: 'progress', label: 'claude.event' }]],
    ['a text', 'assistant', [{ type: 'progress', label: 'claude.event' }]],
    ['a list', ['result'], [{ type: 'progress', label: 'claude.event' }]],
  ];

  it.each(cases)('%s', (_row, message, events) => {
    expect(bodies(message)).toEqual(events);
  });

  it('takes the first row that fits, in the order of the table', () => {
    const inOrder = ['system', 'partial', 'assistant', 'tool_use', 'toolresult', 'permission'];
    const first = (type: string): CoderStreamEvent | undefined => toCoderEvents({ type })[0];
    for (const [at, token] of inOrder.entries())
      for (const later of [...inOrder.slice(at + 1), 'result', 'final'])
        expect(first(`${later}.${token}`)?.type).toBe(first(token)?.type);
    expect(first('partial')).toHaveProperty('delta', true);
    expect(first('assistant.partial')).toHaveProperty('delta', true);
  });

  it('names the session before the thread that was given', () => {
    expect(bodies({ type: 'system', session_id: 's' }, 't')).toEqual([
      { type: 'init', threadId: 's' },
    ]);
    expect(bodies({ type: 'system' }, 't')).toEqual([{ type: 'init', threadId: 't' }]);
    expect(bodies({ type: 'system', session_id: null }, 't')).toEqual([
      { type: 'init', threadId: 't' },
    ]);
  });

  it('hands on what a real frame is: an init, whatever it holds', () => {
    const real = { type: 'assistant', session_id: 's', message: { content: [{ text: 'hi' }] } };
    expect(bodies(real)).toEqual([{ type: 'init', threadId: 's' }]);
  });
});

function toolUse(name: string): object {
  return { type: 'tool_use', name };
}
