import { describe, expect, it } from 'vitest';
import { acpLab } from './acp-lab.js';
import { slow, take } from './turns.js';

describe('the session events of a program', () => {
  it(
    'are its words, thoughts and plans, a message for each of its ids, and its usage',
    async () => {
      await using lab = acpLab();
      const { events, said } = await take(lab, 'think');
      expect(said).toBe('One.|Two.');
      const thoughts = events.flatMap((event) =>
        event.type === 'message_update' && event.assistantMessageEvent.type === 'thinking_end'
          ? [event.assistantMessageEvent.content]
          : [],
      );
      expect(thoughts).toEqual(['Hm.Plan:\n- [x] look\n- [ ] leap\n']);
      const usage = { input: 700, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 700 };
      expect(events.at(-1)).toMatchObject({
        type: 'agent_end',
        usage: { ...usage, costUsd: 0.25 },
      });
      const next = await take(lab, 'think'); // the program tells what the session has cost so far
      expect(next.events.at(-1)).toMatchObject({ usage: { ...usage, costUsd: 0.25 } });
    },
    slow,
  );

  it(
    'are its tool calls, with what they show while they run and at their end',
    async () => {
      await using lab = acpLab();
      const { events, said } = await take(lab, 'tool');
      expect(said).toBe('Let me see.||Done.');
      const calls = events.filter(({ type }) => type.startsWith('tool_'));
      expect(calls.map(({ type }) => type)).toEqual([
        ...['tool_execution_start', 'tool_execution_update', 'tool_execution_end'],
        ...['tool_execution_start', 'tool_execution_update', 'tool_execution_end'],
      ]);
      expect(calls[0]).toMatchObject({ toolName: 'work', args: { path: '/a' } });
      expect(calls[1]).toMatchObject({ partialResult: 'half' });
      expect(calls[2]).toMatchObject({ result: 'done', isError: false });
    },
    slow,
  );

  it(
    'say why a turn ended early',
    async () => {
      await using lab = acpLab();
      expect((await take(lab, 'refuse')).events.at(-1)).toMatchObject({
        error: { subtype: 'refusal', message: 'the agent refuses to go on' },
      });
      const { events } = await take(lab, 'cut');
      expect(events.at(-2)).toMatchObject({ message: { stopReason: 'length' } });
      expect((await take(lab, 'fail')).error).toContain('overloaded');
    },
    slow,
  );
});
