import { describe, expect, it } from 'vitest';
import {
  type CsdkFrame,
  checkOrdering,
  type NormalizeOptions,
  normalizeSession,
  type ToolPartial,
} from '../../../src/claude/index.js';
import type { SessionEvent, ToolExecutionEnd } from '../../../src/sdk/stream/index.js';
import { frames } from '../../support/bridge-lab.js';
import { recordings } from '../../support/recordings.js';

const { init, text, call, answer, result, system } = frames;
const look = { description: 'look', subagent_type: 'explore', prompt: 'Look around.' };
const idle: NormalizeOptions = { end: 'idle' };

function recorded(name: string): readonly CsdkFrame[] {
  const { lines = [] } = recordings().find((one) => one.name === name) ?? {};
  expect(lines).not.toEqual([]);
  return lines.map((line) => JSON.parse(line) as CsdkFrame); // recordings hold one a line
}

async function run(given: readonly CsdkFrame[], options: NormalizeOptions) {
  const events: SessionEvent[] = [];
  const leftOut: string[] = [];
  const onDiagnostic: NormalizeOptions['onDiagnostic'] = (one) => {
    if (one.kind === 'subagent_left_out') leftOut.push(one.type);
  };
  for await (const event of normalizeSession(given, { ...options, onDiagnostic }))
    events.push(event);
  expect(checkOrdering(events)).toEqual([]);
  return { events, leftOut };
}

/** The words and acts of subagents and the answers to them, as updates of the calls that started them. */
function told(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'tool_execution_update') return [];
    const partial = event.partialResult as ToolPartial; // of the SDK's frames
    if (partial.kind !== 'subagent') return [];
    const {
      type,
      text: said,
      name,
    } = partial.block as { type: string; text?: string; name?: string };
    return [`${event.toolCallId} ${said ?? name ?? type}`];
  });
}

function ends(events: readonly SessionEvent[]): readonly ToolExecutionEnd[] {
  return events.filter((event) => event.type === 'tool_execution_end');
}

const launched = (id: string) =>
  answer(id, 'Async agent launched', {
    tool_use_result: { status: 'async_launched', agentId: 'a' },
  });
const started = (id: string) =>
  system('task_started', {
    task_id: 'a',
    tool_use_id: id,
    task_type: 'local_agent',
    is_backgrounded: true,
  });
const notified = (status: string, summary?: string) =>
  system('task_notification', { task_id: 'a', status, ...(summary !== undefined && { summary }) });
const updated = (status: string) => system('task_updated', { task_id: 'a', patch: { status } });
const says = (words: string) =>
  text(`s-${words}`, words, { parent_tool_use_id: 'p', agent_id: 'a' });
const begin = [init(), call('p', 'Agent', look), started('p')];

describe('a subagent in the background (field trial IV.5)', () => {
  it('of the recordings says everything as updates of its call, in order (csdk §4.10)', async () => {
    const nested = await run(recorded('nested-subagents.jsonl'), idle);
    expect(nested.leftOut).toEqual([]);
    expect(told(nested.events)).toEqual([
      'toolu_t1 thinking',
      'toolu_t1 Level one delegates.',
      'toolu_t1 Agent',
      'toolu_t1 Level two looks.',
      'toolu_t1 Read',
      'toolu_t1 tool_result',
      'toolu_t1 Level two report.',
      'toolu_t1 tool_result',
      'toolu_t1 Level one report.',
    ]);
    const background = await run(recorded('background-agent.jsonl'), idle);
    expect(background.leftOut).toEqual([]);
    expect(told(background.events)).toEqual(['toolu_ba Background report.']);
  });

  it('ends its call once, with its report (csdk §4.10)', async () => {
    const { events } = await run(recorded('background-agent.jsonl'), idle);
    expect(ends(events)).toMatchObject([
      {
        toolCallId: 'toolu_ba',
        toolName: 'Agent',
        isError: false,
        result: {
          status: 'completed',
          agentId: 'a3d75715ae642cc27',
          content: [{ type: 'text', text: 'Background report.' }],
        },
      },
    ]);
    const at = (type: SessionEvent['type']) => events.findLastIndex((event) => event.type === type);
    expect(at('tool_execution_end')).toBeLessThan(at('message_start'));
  });

  it('whose run ends before it leaves its call with the answer that launched it, no error (csdk §4.10)', async () => {
    const { events } = await run(recorded('nested-subagents.jsonl'), { end: 'firstResult' });
    expect(told(events).at(-1)).toBe('toolu_t1 Read');
    expect(ends(events)).toMatchObject([
      { toolCallId: 'toolu_t1', isError: false, result: { status: 'async_launched' } },
    ]);
  });

  it.each([
    ['fails', [launched('p'), notified('failed', 'Out of turns.')], 'failed', 'Out of turns.'],
    ['is stopped', [launched('p'), notified('stopped')], 'stopped', undefined],
    [
      'is done before its call answers',
      [notified('completed', 'Saw it.'), launched('p')],
      'completed',
      'Saw it.',
    ],
    [
      'has only an update as its end',
      [launched('p'), updated('completed')],
      'completed',
      undefined,
    ],
    [
      'has an update, then its report',
      [launched('p'), updated('completed'), notified('completed', 'Saw it.')],
      'completed',
      'Saw it.',
    ],
  ])('that %s ends its call so, once (csdk §4.10)', async (_, rest, status, said) => {
    const { events } = await run([...begin, ...rest, text('m2', 'Done.'), result()], idle);
    const content = said === undefined ? [] : [{ type: 'text', text: said }];
    expect(ends(events)).toMatchObject([
      { isError: status !== 'completed', result: { status, agentId: 'a', content } },
    ]);
  });

  it('goes on over a result that leaves it behind, and what follows its end is left out', async () => {
    const given = [
      ...begin,
      launched('p'),
      text('m2', 'It runs.'),
      result(),
      says('Later.'),
      notified('completed', 'Saw it.'),
      says('Too late.'),
      text('m3', 'It is back.'),
      result({ origin: { kind: 'task-notification' } }),
    ];
    const { events, leftOut } = await run(given, idle);
    expect(told(events)).toEqual(['p Later.']);
    expect(leftOut).toEqual(['assistant']);
    expect(ends(events)).toHaveLength(1);
  });

  it('is no call that a notification ends: that one still answers by itself (csdk §4.8)', async () => {
    const detached = answer('p', '', { tool_use_result: { detachedToolCall: true } });
    const given = [
      ...begin,
      detached,
      notified('completed', 'Saw it.'),
      answer('p', 'The answer.'),
      result(),
    ];
    const { events } = await run(given, idle);
    expect(ends(events)).toMatchObject([{ result: 'The answer.', isError: false }]);
  });
});
