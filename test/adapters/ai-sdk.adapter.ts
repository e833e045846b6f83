import { generateText, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createKernel } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { judge } from '../../extensions/ai-sdk/src/index.js';
import { aiSdk } from './agents/ai-sdk.js';
import { adapterLaws } from './laws.js';

adapterLaws('AI SDK', aiSdk);

/** Calls a tool of the AI SDK as the SDK does, with a judge that hides secrets and doubles `n`. */
function executed(one: object, input: object) {
  const kernel = createKernel();
  kernel.contribute({
    ...{ family: 'agent.tool.returning', class: 'mutator', extensionId: 'acme', id: 'hide' },
    handler: ({ payload: { result } }) => ({
      result: JSON.parse(JSON.stringify(result).replaceAll('sk-SECRET', '[hidden]')),
    }),
  });
  kernel.contribute({
    ...{ family: 'agent.tool.calling', class: 'mutator', extensionId: 'acme', id: 'double' },
    handler: ({ payload: { params } }) => ({ params: { n: Number(params['n']) * 2 } }),
  });
  const { it: judged } = judge(kernel, { given: () => ({}) }).tools({ it: one });
  const { execute } = judged as { readonly execute: (input: object, options: object) => unknown };
  return execute(input, { toolCallId: 'c', messages: [] });
}

describe('a tool of the AI SDK', () => {
  it('that answers in parts shows its last one alone, when it is judged', async () => {
    const parts = tool({
      inputSchema: z.object({ n: z.number() }),
      async *execute() {
        yield { state: 'sk-SECRET in part' };
        yield { state: 'sk-SECRET at the end' };
      },
    });
    expect(await executed(parts, { n: 1 })).toEqual({ state: '[hidden] at the end' });
  });

  it('keeps what is no JSON in its input, beside the arguments that handlers set', async () => {
    const at = new Date(0);
    const dated = tool({
      inputSchema: z.object({ n: z.number(), at: z.date() }),
      execute: async (input) => `${input.n} ${input.at === at}`,
    });
    expect(await executed(dated, { n: 2, at })).toBe('4 true');
  });

  it('with a JSON Schema judges the arguments that handlers have set', async () => {
    const validate = (value: unknown) =>
      Number(Object(value).n) < 10
        ? { success: true as const, value: value as { n: number } } // it was asked
        : { success: false as const, error: new Error('n is too large') };
    const inputSchema = jsonSchema<{ n: number }>({ type: 'object' }, { validate });
    const small = tool({ inputSchema, execute: async ({ n }) => n });
    expect(await executed(small, { n: 4 })).toBe(8);
    await expect(executed(small, { n: 5 })).rejects.toThrow('the tool did not run: n is too large');
  });

  it('is called with its own `this`, and its failure says no more than handlers have seen', async () => {
    const failing = {
      inputSchema: z.object({ n: z.number() }),
      words: `${'x'.repeat(400)} sk-SECRET`,
      execute() {
        throw new Error(this.words);
      },
    };
    const thrown: unknown = await Promise.resolve(executed(failing, { n: 1 })).catch(
      (error: unknown) => error,
    );
    expect(String(thrown)).toMatch(/^the tool failed: x+$/);
    expect(JSON.stringify(thrown) + String(Object(thrown).cause)).not.toContain('SECRET');
  });

  it.each([['a text'], [7], [['list']], [null]])(
    'does not run if its input is no object: %j',
    async (input) => {
      const any = { inputSchema: z.any(), execute: async () => 'ran' };
      await expect(executed(any, input as never)).rejects.toThrow('its arguments are no object');
    },
  );

  it('that runs elsewhere must be named, because no judge can stop it', async () => {
    const elsewhere = tool({ inputSchema: z.object({}) });
    const kernel = createKernel();
    const given = () => ({});
    expect(() => judge(kernel, { given }).tools({ elsewhere })).toThrow(
      /"elsewhere" has no "execute".*"unjudged"/,
    );
    expect(judge(kernel, { given, unjudged: ['elsewhere'] }).tools({ elsewhere })).toEqual({
      elsewhere,
    });
  });

  it('whose call does not fit its schema is refused by the SDK itself, and is no call to judge', async () => {
    let at = 0;
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 1, text: 1, reasoning: undefined },
    };
    const stop = { unified: 'tool-calls', raw: 'x' } as const;
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        ...{ usage, warnings: [], finishReason: stop },
        content: [
          { type: 'tool-call', toolCallId: `c${at++}`, toolName: 'it', input: '{"n":"many"}' },
        ],
      }),
    });
    const kernel = createKernel();
    let ran = 0;
    const counted = tool({ inputSchema: z.object({ n: z.number() }), execute: async () => ran++ });
    const tools = judge(kernel, { given: () => ({}) }).tools({ it: counted });
    const { content } = await generateText({ model, tools, prompt: 'go' });
    expect(content.map(({ type }) => type)).toEqual(['tool-call', 'tool-error']);
    expect([ran, kernel.stats().dispatches]).toEqual([0, 0]);
  });
});
