import { describe, expect, it } from 'vitest';
import type { CoderStreamEvent } from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { recordings } from '../../support/recordings.js';
import { onceEach, type ToldDispatch, toldOf } from '../../support/told-once.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

/** The recordings whose subagents go on after a result: their runs are one (csdk §12.5). */
const inBackground = ['background-agent.jsonl', 'nested-subagents.jsonl'];

async function linesOf<Line>(args: readonly string[]): Promise<Line[]> {
  const { code, stdout, stderr } = await runInMemory(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return jsonLines<Line>(stdout);
}

describe.each(recordings())('$name, as it is told (csdk §12.5)', ({ name, path }) => {
  it('sluice replay: each call and each subagent begins once and ends once', async () => {
    const dispatches = await linesOf<ToldDispatch & { payload: { outcome?: string } }>([
      'replay',
      '--json',
      path,
    ]);
    const told = toldOf(dispatches);
    expect(told).toEqual(onceEach(told));
    if (!inBackground.includes(name)) return;
    const ends = dispatches.filter(({ event }) => event.family === 'subagent.completed');
    expect(ends.length).toBeGreaterThan(0);
    for (const { payload } of ends) expect(payload.outcome).toBe('ok');
    expect(dispatches.filter(({ event }) => event.family === 'agent.completed')).toHaveLength(1);
  });

  it('sluice normalize: each call starts once and ends once, under the name of its tool', async () => {
    const events = await linesOf<SessionEvent>(['normalize', path]);
    const started = events.filter((event) => event.type === 'tool_execution_start');
    const ended = events.filter((event) => event.type === 'tool_execution_end');
    const ids = started.map(({ toolCallId }) => toolCallId).toSorted();
    expect(ids).toEqual([...new Set(ids)]);
    expect(ended.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(ids);
    expect(started.map(({ toolName }) => toolName)).not.toContain('unknown');
    if (inBackground.includes(name))
      expect(events.filter(({ type }) => type === 'agent_end')).toHaveLength(1);
  });

  it('sluice normalize --coder: each call is told once', async () => {
    const events = await linesOf<CoderStreamEvent>(['normalize', '--coder', path]);
    const calls = events.flatMap((event) => (event.type === 'tool_use' ? [event.callId] : []));
    expect(calls).toEqual([...new Set(calls)]);
    const results = events.flatMap((event) => (event.type === 'tool_result' ? [event.callId] : []));
    expect(results).toEqual([...new Set(results)]);
    expect(calls).toEqual(expect.arrayContaining(results));
  });
});
