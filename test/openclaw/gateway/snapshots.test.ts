import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOrdering } from '../../../src/claude/index.js';
import { FactQueue } from '../../../src/openclaw/gateway/run/fact-queue.js';
import type { RunFact } from '../../../src/openclaw/gateway/run/run-fact.js';
import { SessionReader } from '../../../src/openclaw/gateway/session/session-reader.js';
import { type SessionEvent, textOf } from '../../../src/sdk/stream/index.js';
import { virtualClock } from '../../../src/testing/index.js';

const message = fc.record({
  /** What the message grows by; the first is how it begins. */
  pieces: fc.array(
    fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', '😀') }),
    {
      minLength: 1,
      maxLength: 6,
    },
  ),
  thought: fc.string({ maxLength: 3 }),
  callsTool: fc.boolean(),
});
const runs = fc.record({
  messages: fc.array(message, { maxLength: 5 }),
  /** After how many facts the reader reads what waits. */
  reads: fc.array(fc.nat(6), { maxLength: 12 }),
});

/** What the gateway tells of some messages. */
function factsOf(
  messages: readonly (typeof message extends fc.Arbitrary<infer One> ? One : never)[],
) {
  const facts: RunFact[] = [];
  for (const [at, { pieces, thought, callsTool }] of messages.entries()) {
    if (thought !== '')
      facts.push({ kind: 'thinking', text: thought, opens: true, continues: false });
    let text = '';
    for (const [index, piece] of pieces.entries()) {
      text += piece;
      facts.push({ kind: 'text', text, opens: index === 0, continues: index > 0 });
    }
    if (!callsTool) continue;
    const call = { kind: 'tool', toolCallId: `t-${at}`, toolName: 'read', args: {} } as const;
    facts.push({ ...call, phase: 'start', isError: false });
    facts.push({ ...call, phase: 'update', result: 'half', isError: false });
    facts.push({ ...call, phase: 'end', result: 'whole', isError: false });
  }
  return [...facts, { kind: 'end', how: 'done' } as const];
}

/** The same without a tool between is told as one: nothing tells the two apart (stream §6.2). */
function canBeToldApart(
  messages: readonly { readonly pieces: string[]; readonly callsTool: boolean }[],
) {
  return messages.every(
    ({ pieces }, at) =>
      at === 0 ||
      messages[at - 1]?.callsTool === true ||
      messages[at - 1]?.pieces.join('') !== pieces[0],
  );
}

describe('snapshots of any messages, read at any time (stream §6.2, §6.6)', () => {
  it('become each message whole and once, its growth told once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async ({ messages, reads }) => {
        fc.pre(canBeToldApart(messages));
        const queue = new FactQueue();
        const reader = new SessionReader({ provider: 'p', model: 'm', clock: virtualClock() });
        const told: SessionEvent[] = [{ type: 'agent_start' }];
        const waiting = queue.read();
        const facts = factsOf(messages);
        for (const count of reads) {
          const pushed = facts.splice(0, count);
          for (const fact of pushed) queue.push(fact);
          if (pushed.length === 0 || pushed.at(-1)?.kind === 'end') continue;
          const { value } = await waiting.next(); // one is there: the others wait on
          if (value !== undefined) told.push(...reader.take(value));
        }
        for (const fact of facts) queue.push(fact);
        for await (const fact of waiting) told.push(...reader.take(fact));

        expect(checkOrdering(told)).toEqual([]);
        const texts = told.flatMap((event) =>
          event.type === 'message_end' && textOf(event.message) !== ''
            ? [textOf(event.message)]
            : [],
        );
        expect(texts).toEqual(messages.map(({ pieces }) => pieces.join('')));
        const shown = told.flatMap((event) =>
          event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta'
            ? [event.assistantMessageEvent.delta]
            : [],
        );
        expect(shown.join('')).toBe(texts.join(''));
        const calls = told.filter(({ type }) => type === 'tool_execution_end');
        expect(calls).toHaveLength(messages.filter(({ callsTool }) => callsTool).length);
      }),
      { numRuns: 1_500 },
    );
  });
});
