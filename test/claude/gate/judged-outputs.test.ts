import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JudgedOutputs } from '../../../src/claude/gate/judged-outputs.js';
import { callbackQueue, toolGate } from '../../../src/claude/index.js';
import type { AgentToolResult } from '../../../src/sdk/stream/index.js';

const call = { toolCallId: 't', toolName: 'Read', args: {} };
const withheld: AgentToolResult = { content: [{ type: 'text', text: 'no' }], isError: true };
const read = { type: 'text', file: { filePath: '/a', content: 'the key\nis 4711', numLines: 2 } };

function frame(structured: unknown, content: unknown = 'x') {
  const block = { type: 'tool_result', tool_use_id: 't', content };
  return { type: 'user', message: { content: [block] }, tool_use_result: structured };
}

const fields = 'the fields of an object';

/** The keys, kinds and types of a value: what a schema of the SDK may ask for. */
function shapeOf(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => shapeOf(one));
  if (typeof value !== 'object' || value === null)
    return key === 'type' && value === 'image' ? value : typeof value;
  return [fields, ...Object.entries(value).map(([name, one]) => [name, shapeOf(one, name)])];
}

describe('a result of a tool of Claude, as agent.tool.returning has left it (§16.31)', () => {
  it('keeps the shape of its tool, and nothing else of a result that was kept back', async () => {
    const word = fc.string({ minLength: 4, maxLength: 8 }).map((text) => `<${text}>`);
    const keys = fc.constantFrom('type', 'stdout', 'file', 'content', 'numLines', 'a@b.example');
    const { response } = fc.letrec((tie) => ({
      response: fc.oneof(
        { maxDepth: 3 },
        ...[word, fc.constant('image'), fc.integer(), fc.boolean()],
        fc.array(tie('response'), { maxLength: 3 }),
        fc.dictionary(keys, tie('response')),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(response, async (given) => {
        const left = await new JudgedOutputs(async () => withheld).judge(call, given);
        expect(JSON.stringify(left?.output)).not.toMatch(/[<@1-9]|true/);
        expect(JSON.stringify(left?.output)).toContain('"no"'); // the model is told
        const shape = shapeOf(given);
        const told = JSON.stringify(shape);
        if (told.includes('"string"') && !told.includes('@'))
          expect(shapeOf(left?.output)).toEqual(shape);
      }),
    );
    const counted = { mode: 'count', numMatches: 4711, names: { 'alice@example.com': true } };
    const blank = { mode: 'no', numMatches: 0, names: {} };
    const outputs = new JudgedOutputs(async () => withheld);
    expect(await outputs.judge(call, counted)).toEqual({ output: blank });
  });

  it('has each text as a mutator leaves it, or the data that it gives', async () => {
    const clean = new JudgedOutputs(async (_call, result) => ({
      ...result,
      content: result.content.map((block) => ({
        type: 'text',
        text: block.type === 'text' ? block.text.replace('4711', '[key]') : '',
      })),
    }));
    const file = { ...read.file, content: 'the key\nis [key]' };
    expect(await clean.judge(call, read)).toEqual({ output: { ...read, file } });
    const data = new JudgedOutputs(async () => ({ ...withheld, details: { own: 1 } }));
    expect(await data.judge(call, read)).toEqual({ output: { own: 1 } });
    const same = new JudgedOutputs(async (_call, result) => result);
    expect(await same.judge(call, read)).toBeUndefined();
  });

  it('is refused if a frame shows what is gone of it', async () => {
    const outputs = new JudgedOutputs(async () => withheld);
    outputs.check(frame(read)); // nobody has judged it yet
    const left = await outputs.judge(call, read);
    outputs.check(frame(left?.output, '1\tno'));
    outputs.check(frame(undefined, '1\tno'));
    const refused = expect.objectContaining({ code: 'result-not-taken' });
    expect(() => outputs.check(frame(read))).toThrow(refused);
    expect(() => outputs.check(frame(undefined, '1\tthe key\n2\tis 4711'))).toThrow(refused);
  });

  it('is refused if a frame shows the numbers that were taken out of it', async () => {
    const outputs = new JudgedOutputs(async (_call, result) => ({
      ...result,
      details: { a: 'ok' },
    }));
    const left = await outputs.judge(call, { a: 'ok', balance: 4711 });
    outputs.check(frame(left?.output, 'ok'));
    const refused = expect.objectContaining({ code: 'result-not-taken' });
    expect(() => outputs.check(frame({ a: 'ok', balance: 4711 }, 'ok'))).toThrow(refused);
  });

  it('is shown without the data of an MCP server that the SDK shows beside it', async () => {
    const outputs = new JudgedOutputs(async () => withheld);
    const content = [{ type: 'text', text: 'no' }];
    await outputs.judge(call, [{ type: 'text', text: '{"balance":4711}' }]);
    const shown = frame({ content, structuredContent: { balance: 4711 } }, content);
    expect(outputs.check(shown)).toEqual(frame(content, content));
  });

  it('is taken, though the id of its call has a text that is gone', async () => {
    const outputs = new JudgedOutputs(async () => withheld);
    await outputs.judge(call, 't');
    outputs.check(frame(undefined, 'no'));
  });

  it('is what the PostToolUse hook gives the SDK, and what is told of the hook', async () => {
    const callbacks = callbackQueue();
    const outputs = new JudgedOutputs(async () => withheld);
    const onResult = outputs.judge.bind(outputs);
    const { hooks } = toolGate(async ({ args }) => ({ allowed: true, args }), callbacks, {
      onResult,
    });
    const input = {
      ...{ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: {}, tool_use_id: 't' },
      tool_response: { stdout: '4711', stderr: '' },
    };
    const { signal } = new AbortController();
    const answer = await hooks.PostToolUse[0]?.hooks[0]?.(input, 't', { signal });
    const output = { stdout: 'no', stderr: '' };
    expect(answer).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: output },
    });
    callbacks.close();
    const told = [];
    for await (const one of callbacks) told.push(one);
    expect(told).toMatchObject([{ kind: 'hook', input: { tool_response: output } }]);
  });
});
