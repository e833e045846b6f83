import fc from 'fast-check';
import { checkOrdering } from 'sluice/csdk';
import type { AgentTool, SessionEvent, SessionMessage, ToolDefinition } from 'sluice/stream';
import { describe, expect, it } from 'vitest';
import { providerOf, requestOf } from './agent-lab.js';
import { type Answer, modelServer, open, part, write } from './model-server.js';

/** Random runs; .ci/run --long tries 1,000. */
const runs = Math.min(1_000, Number(process.env['LAW_RUNS'] ?? 150));

const sound = fc.oneof(
  fc.string().map((content) => ({ content })),
  fc.string().map((reasoning_content) => ({ reasoning_content })),
  fc.string().map((reasoning) => ({ reasoning, content: null })),
  fc.record({
    tool_calls: fc.array(
      fc.record(
        {
          index: fc.nat(2),
          id: fc.constantFrom('', 'a', 'b', 'c'),
          function: fc.record(
            {
              name: fc.constantFrom('good', 'bad', 'none', ''),
              arguments: fc.constantFrom('{}', '{"a":', '1}', '[', '', 'x'),
            },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
  }),
);
const unsound = fc.oneof(
  fc.jsonValue().map((choices) => ({ choices })),
  fc.constant({ error: { message: 'down' } }),
  fc.constantFrom('data: {\n\n', ': hello\n\n', 'data: null\n\n', 'event: x\n\n'),
);
const piece = fc.oneof({ weight: 15, arbitrary: sound }, { weight: 1, arbitrary: unsound });
const end = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('stop', 'tool_calls') },
  { weight: 1, arbitrary: fc.constantFrom('length', 'content_filter', 'cut', 'broken', '') },
);
const answer = fc.record({ pieces: fc.array(piece, { maxLength: 8 }), end });

function given({
  pieces,
  end: how,
}: {
  pieces: readonly (object | string)[];
  end: string;
}): Answer {
  return (response) => {
    open(response);
    for (const one of pieces) write(response, one);
    if (how === 'broken') response.destroy();
    else if (how === 'cut') response.end();
    else
      response.end(
        `data: ${JSON.stringify(part({}, how === '' ? null : how))}\n\ndata: [DONE]\n\n`,
      );
  };
}

/** Runs one turn, stopped after so many events. */
async function runOf(answers: readonly Answer[], stopAfter: number) {
  await using server = await modelServer(...answers);
  const events: SessionEvent[] = [];
  const stop = new AbortController();
  const offer = (tools: readonly ToolDefinition[]): AgentTool[] =>
    tools.map(({ execute: _, ...tool }) => ({
      ...tool,
      call: async ({ onUpdate }) => {
        onUpdate?.({ content: [], isError: false });
        return { content: [{ type: 'text', text: tool.name }], isError: tool.name === 'bad' };
      },
    }));
  const tool = (name: string) => ({ name, description: '', inputSchema: {}, execute: () => '' });
  const provider = providerOf(
    { url: server.url, maxRounds: answers.length },
    { tools: async () => [tool('good'), tool('bad')] },
  );
  let thrown: unknown;
  try {
    const written = () =>
      events.flatMap((one): SessionMessage[] => (one.type === 'message_end' ? [one.message] : []));
    for await (const event of provider.run(requestOf({ signal: stop.signal, offer, written }))) {
      events.push(event);
      if (events.length === stopAfter) stop.abort();
    }
  } catch (error) {
    thrown = error;
  }
  return { events, thrown };
}

describe('the events of an agent of chat completions', () => {
  it(`keep their order in ${runs} random runs, with faults and stops`, async () => {
    const seen = { ended: 0, failed: 0, tools: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 4 }),
        fc.nat(60),
        async (answers, stopAfter) => {
          const { events, thrown } = await runOf(answers.map(given), stopAfter);
          const found = checkOrdering(events).map(({ rule }) => rule);
          expect(found).toEqual(thrown === undefined ? [] : ['agent-end-missing']);
          if (thrown !== undefined) expect(Object(thrown).failure).toEqual(expect.any(String));
          seen[thrown === undefined ? 'ended' : 'failed']++;
          if (events.some(({ type }) => type === 'tool_execution_end')) seen.tools++;
        },
      ),
      { numRuns: runs },
    );
    expect(Math.min(seen.ended, seen.failed, seen.tools), JSON.stringify(seen)).toBeGreaterThan(0);
  });
});
