import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../../../src/kernel/internal.js';
import type {
  AssistantMessage,
  AssistantMessageEvent,
  SessionEvent,
} from '../../../src/sdk/stream/index.js';
import {
  assertOrdering,
  checkOrdering,
  orderingChecker,
} from '../../../src/sdk/stream/internal.js';

const message: AssistantMessage = { role: 'assistant', content: [] };
const agentStart: SessionEvent = { type: 'agent_start' };
const agentEnd: SessionEvent = { type: 'agent_end', messages: [] };
const start: SessionEvent = { type: 'message_start', message };
const end: SessionEvent = { type: 'message_end', message };
const update = (assistantMessageEvent: AssistantMessageEvent): SessionEvent => ({
  type: 'message_update',
  message,
  assistantMessageEvent,
});
const at = { contentIndex: 0, partial: message };
const textStart = update({ type: 'text_start', ...at });
const delta = (text: string) => update({ type: 'text_delta', delta: text, ...at });
const textEnd = (content: string) => update({ type: 'text_end', content, ...at });
const toolCallId = 't1';
const toolName = 'Bash';
const toolStart: SessionEvent = { type: 'tool_execution_start', toolCallId, toolName, args: {} };
const toolUpdate: SessionEvent = {
  type: 'tool_execution_update',
  toolCallId,
  toolName,
  args: {},
  partialResult: 1,
};
const toolEnd: SessionEvent = {
  type: 'tool_execution_end',
  toolCallId,
  toolName,
  result: 1,
  isError: false,
};
const compacting: SessionEvent = { type: 'auto_compaction_start', reason: 'threshold' };
const compacted: SessionEvent = { type: 'auto_compaction_end', aborted: false, willRetry: false };

const good = [
  agentStart,
  start,
  textStart,
  delta('a'),
  toolStart,
  delta('b'),
  textEnd('ab'),
  end,
  toolUpdate,
  compacting,
  toolEnd,
  compacted,
  agentEnd,
];

/** What is wrong with a run that has these events between its start and its end. */
function wrong(...events: readonly SessionEvent[]): readonly string[] {
  return checkOrdering([agentStart, ...events, agentEnd]).map(
    ({ index, rule }) => `${index} ${rule}`,
  );
}

describe('checkOrdering (csdk §10)', () => {
  it('finds nothing in a run whose order is right', () => {
    expect(checkOrdering(good)).toEqual([]);
    expect(checkOrdering([agentStart, agentEnd])).toEqual([]);
  });

  it.each<readonly [string, readonly SessionEvent[], readonly string[]]>([
    ['a message in a message', [start, start, end], ['2 message-nested']],
    ['a message that is ended only', [end], ['1 message-not-open']],
    ['a message without an end', [start], ['2 message-not-ended']],
    ['an update outside a message', [textStart], ['1 update-outside-message']],
    [
      'a block that starts twice',
      [start, textStart, textEnd(''), textStart, textEnd(''), end],
      ['4 block-started-twice'],
    ],
    ['a delta without a start', [start, delta('a'), end], ['2 block-not-open']],
    [
      'a delta of another kind',
      [start, textStart, update({ type: 'thinking_delta', delta: '', ...at }), textEnd(''), end],
      ['3 block-not-open'],
    ],
    ['a block without an end', [start, textStart, end], ['3 block-not-ended']],
    [
      'an end that is not its deltas',
      [start, textStart, delta('a'), textEnd('ab'), end],
      ['4 block-content'],
    ],
    [
      'a tool that starts twice',
      [toolStart, toolEnd, toolStart, toolEnd],
      ['3 tool-started-twice'],
    ],
    ['a tool that ends twice', [toolStart, toolEnd, toolEnd], ['3 tool-not-running']],
    ['a tool that ends without a start', [toolEnd], ['1 tool-not-running']],
    ['an update after a tool’s end', [toolStart, toolEnd, toolUpdate], ['3 tool-not-running']],
    ['a tool without an end', [toolStart], ['2 tool-not-ended']],
    ['a compaction in a compaction', [compacting, compacting, compacted], ['2 compaction-nested']],
    ['a compaction that is ended only', [compacted], ['1 compaction-not-open']],
    ['a compaction without an end', [compacting], ['2 compaction-not-ended']],
    ['a second start of the run', [agentStart], ['1 agent-start-once']],
  ])('finds %s', (_title, events, expected) => {
    expect(wrong(...events)).toEqual(expected);
  });

  it('finds a run that does not begin, does not end, or goes on after its end', () => {
    const rules = (events: readonly SessionEvent[]) =>
      checkOrdering(events).map(({ index, rule }) => `${index} ${rule}`);
    expect(rules([])).toEqual(['0 agent-end-missing']);
    expect(rules([start, end, agentEnd])).toEqual(['0 agent-start-first']);
    expect(rules([agentStart, start])).toEqual(['2 agent-end-missing', '2 message-not-ended']);
    expect(rules([agentStart, agentEnd, agentEnd])).toEqual(['2 agent-end-last']);
    expect(rules([agentStart, agentEnd, toolStart])).toEqual([
      '2 agent-end-last',
      '3 tool-not-ended',
    ]);
  });

  it('says what is wrong in words', () => {
    expect(checkOrdering([agentStart, toolEnd, agentEnd])).toEqual([
      {
        index: 1,
        rule: 'tool-not-running',
        message: 'tool_execution_end of tool call "t1", which does not run',
      },
    ]);
  });
});

describe('orderingChecker', () => {
  it('tells each violation when its event goes by', () => {
    const checker = orderingChecker();
    expect(checker.take(agentStart)).toEqual([]);
    expect(checker.take(textStart)).toMatchObject([{ index: 1, rule: 'update-outside-message' }]);
    expect(checker.take(agentEnd)).toEqual([]);
    expect(checker.finish()).toEqual([]);
  });
});

describe('assertOrdering', () => {
  it('passes a good run on', async () => {
    const passed: SessionEvent[] = [];
    for await (const event of assertOrdering(good)) passed.push(event);
    expect(passed).toEqual(good);
  });

  it('throws session-out-of-order before the event that breaks the order', async () => {
    const passed: SessionEvent[] = [];
    const read = async () => {
      for await (const event of assertOrdering([agentStart, toolEnd, agentEnd])) passed.push(event);
    };
    const error: unknown = await read().catch((thrown: unknown) => thrown);
    expect(isSluiceError(error) && error.code).toBe('session-out-of-order');
    expect(String(error)).toContain('Session event 1 breaks the order (tool-not-running)');
    expect(passed).toEqual([agentStart]);
  });

  it('throws at the end for what is missing', async () => {
    const read = async () => {
      for await (const _ of assertOrdering([agentStart]));
    };
    await expect(read()).rejects.toMatchObject({ details: { rule: 'agent-end-missing' } });
  });
});
