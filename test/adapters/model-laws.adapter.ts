import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { Agent } from '@openai/agents';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
import { generateText, Output, streamText, wrapLanguageModel } from 'ai';
import { createAgent, createMiddleware, providerStrategy } from 'langchain';
import type { JudgeOptions } from 'sluice-judge';
import { cancel, createKernel, type Kernel, type PayloadOf } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { judge as aiSdkJudge } from '../../extensions/ai-sdk/src/index.js';
import { judge as langChainJudge } from '../../extensions/langchain/src/index.js';
import { judge as openAiAgentsJudge } from '../../extensions/openai-agents/src/index.js';
import { aiSdk, aiSdkModel } from './agents/ai-sdk.js';
import { langChain, langChainModel } from './agents/langchain.js';
import { openAiAgents, openAiAgentsModel, runner } from './agents/openai-agents.js';
import { type LabAgent, type LabCall, type LabEnd, type LabRun, labTools } from './lab.js';

type Answer = PayloadOf<'agent.llm.returning'>;
const given = () => ({});
const acme = { extensionId: 'acme', failClosed: true } as const;

/** A kernel with one closed mutator of answers. */
function changing(rule: (answer: Answer) => unknown): Kernel {
  const kernel = createKernel();
  kernel.contribute({
    ...{ ...acme, family: 'agent.llm.returning', class: 'mutator', id: 'rule' },
    handler: (({ payload }: { payload: Answer }) => rule(payload)) as never,
  });
  return kernel;
}

const clean = ({ text, calls }: Answer) =>
  JSON.parse(JSON.stringify({ text, calls }).replaceAll('sk-SECRET', '[hidden]'));
const shell: LabCall = { id: 'c0', name: 'shell', args: { command: 'ls' } };

async function runOf(agent: LabAgent, run: Partial<LabRun> & { readonly kernel: Kernel }) {
  const { tools, ran } = labTools();
  let end: LabEnd = { said: [], shown: '', asked: '' };
  const results = await agent({
    ...{ options: { given }, tools, answers: [[shell]], says: ['It is sk-SECRET.'], ...run },
    end(one) {
      end = one;
    },
  });
  return { ...end, ran, results };
}

describe.each([
  ['the AI SDK', aiSdk],
  ['the OpenAI Agents SDK', openAiAgents],
  ['LangChain', langChain],
] as const)('an answer of a model in %s', (_, agent) => {
  it('is shown as it comes if no handler judges answers (§16.32)', async () => {
    const { shown, said } = await runOf(agent, { kernel: createKernel(), isStreamed: true });
    expect([said, shown.includes('sk-SECRET')]).toEqual([['It is sk-SECRET.', 'Done.'], true]);
  });

  it('shows nothing before it is judged, and all of it afterwards', async () => {
    const { shown, said } = await runOf(agent, { kernel: changing(clean), isStreamed: true });
    expect(said).toEqual(['It is [hidden].', 'Done.']);
    expect([shown.includes('sk-SECRET'), shown.includes('It is [hidden].')]).toEqual([false, true]);
    expect(shown).toContain('Done.');
  });

  it('keeps its thoughts when its words change, and loses thoughts that a handler changes', async () => {
    const thinks = ['I recall it.'];
    const kept = await runOf(agent, { kernel: changing(clean), thinks });
    expect(kept.asked).toContain('I recall it.');
    const lost = await runOf(agent, { kernel: changing(() => ({ thinking: 'Hm.' })), thinks });
    expect(lost.asked).not.toContain('I recall it.');
    expect(lost.said).toEqual(['It is sk-SECRET.', 'Done.']);
  });

  it('whose arguments cannot be read tells nobody of them, and no tool runs', async () => {
    const heard: unknown[] = [];
    const kernel = changing(({ calls }) => void heard.push(calls));
    const answers = [[{ ...shell, args: ['sk-SECRET'] as never }]];
    const { ran, asked } = await runOf(agent, { kernel, answers, says: ['Well.'] });
    expect(heard[0]).toEqual([{ toolCallId: 'c0', toolName: 'shell', params: {} }]);
    expect([ran, asked.includes('sk-SECRET')]).toEqual([[], false]);
  });

  it('leaves the framework its own objects: a handler changes none in place', async () => {
    const kernel = changing(({ calls }) => ({ calls: calls.map((one) => ({ ...one })) }));
    const { ran } = await runOf(agent, { kernel });
    expect(ran).toEqual([{ name: 'shell', params: { command: 'ls' } }]);
  });

  it('that is stopped as it is judged is kept back', async () => {
    const stop = new AbortController();
    const kernel = changing(() => stop.abort());
    const options = { given, signal: stop.signal };
    const { ran, said } = await runOf(agent, { kernel, options });
    expect([ran, said]).toEqual([[], ['[withheld: a handler that guards answers failed]']]);
  });

  it('is judged with the facts of its call, in one run of the pipeline (§16.33)', async () => {
    const kernel = createKernel();
    const seen: unknown[] = [];
    kernel.contribute({
      ...{ ...acme, family: 'agent.llm.calling', class: 'veto', id: 'a' },
      handler({ payload: { prompt, messages, runId, sessionKey }, principal, event }) {
        seen.push([prompt, (messages?.length ?? 0) > 0, principal?.senderId, sessionKey]);
        seen.push([runId, event.correlationId]);
        return { kind: 'allow' };
      },
    });
    kernel.contribute({
      ...{ extensionId: 'acme', family: 'agent.llm.returning', class: 'observer', id: 'b' },
      handler({ payload: { sessionKey, runId }, principal, event }) {
        seen.push([runId, event.correlationId], [principal?.senderId, sessionKey]);
      },
    });
    const principal = { ...{ channel: 'web', accountId: 'a', senderId: 'ada' }, isOwner: true };
    const options: JudgeOptions = {
      given: (call) => {
        expect(call.toolName).toBeUndefined();
        return { principal: { ...principal, roles: [] }, sessionKey: 'k' };
      },
    };
    await runOf(agent, { kernel, options, answers: [] });
    expect(seen).toEqual([['go', true, 'ada', 'k'], seen[1], seen[1], ['ada', 'k']]);
    expect(seen[1]).toEqual([expect.any(String), expect.any(String)]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no session');
      },
    ],
    ['is misspelt', () => ({ pricipal: {} }) as never],
  ])('is not asked for if "given" %s', async (__, wrong: JudgeOptions['given']) => {
    const { asked, said } = await runOf(agent, {
      kernel: changing(clean),
      options: { given: wrong },
    });
    expect(said).toEqual(['[withheld: a handler that guards answers failed]']);
    expect(asked).not.toContain('"go"');
  });
});

describe('the model of a framework', () => {
  const refusing = () =>
    changing(({ text }) => {
      if (text.includes('sk-SECRET')) throw new Error('no');
    });

  it('of the AI SDK may fail by itself: its error is no answer', async () => {
    const model = aiSdkModel([]);
    model.doGenerate = () => Promise.reject(new Error('overloaded'));
    const { middleware } = aiSdkJudge(refusing(), { given });
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(String(error));
    const wrapped = wrapLanguageModel({ model, middleware });
    await streamText({ model: wrapped, prompt: 'go', maxRetries: 0, onError }).consumeStream();
    expect(errors).toEqual(['Error: overloaded']);
  });

  it('of the AI SDK is judged by the text that is read as data, too', async () => {
    const model = aiSdkModel([]);
    const plain = model.doGenerate;
    const structuredOutputText = '{"key":"sk-SECRET"}';
    model.doGenerate = async (how) => ({ ...(await plain(how)), structuredOutputText });
    const { middleware } = aiSdkJudge(refusing(), { given });
    const wrapped = wrapLanguageModel({ model, middleware });
    const output = Output.object({ schema: z.object({ key: z.string() }) });
    const got = await generateText({ model: wrapped, prompt: 'go', output })
      .then((result) => result.output)
      .catch((error: unknown) => String(Object(error).text));
    expect(got).toBe('[withheld: a handler that guards answers failed]');
  });

  it('of the AI SDK tells the same of itself when its answer is held and streamed', async () => {
    const model = aiSdkModel([]);
    const plain = model.doGenerate;
    const about = { response: { id: 'r1', modelId: 'm1' }, providerMetadata: { p: { n: 1 } } };
    model.doGenerate = async (how) => ({ ...(await plain(how)), ...about });
    const { middleware } = aiSdkJudge(refusing(), { given });
    const result = streamText({ model: wrapLanguageModel({ model, middleware }), prompt: 'go' });
    expect([await result.text, await result.providerMetadata]).toEqual(['Done.', { p: { n: 1 } }]);
    expect(await result.response).toMatchObject(about.response);
  });

  it('of the OpenAI Agents SDK gives its words as a stream of text, once they are judged', async () => {
    const model = openAiAgentsModel([[]], ['It is sk-SECRET.']);
    const agent = new Agent({
      name: 'it',
      model: openAiAgentsJudge(changing(clean), { given }).model(model),
    });
    const result = await runner(model).run(agent, 'go', { stream: true });
    let shown = '';
    for await (const text of result.toTextStream()) shown += text;
    expect(shown).toBe('It is [hidden].');
  });

  it('of the OpenAI Agents SDK is judged by its refusals, its speech and its raw thoughts, too', async () => {
    const heard: unknown[] = [];
    const kernel = changing(({ text, thinking }) => void heard.push([text, thinking]));
    const refusal = { type: 'refusal' as const, refusal: 'I refuse. ' };
    const spoken = { type: 'audio' as const, audio: 'AAAA', transcript: 'I speak.' };
    const model = new ScriptedModel([
      [
        {
          ...{ type: 'reasoning', content: [{ type: 'input_text', text: 'In short. ' }] },
          rawContent: [{ type: 'reasoning_text', text: 'At length.' }],
        } as never,
        { ...assistantMessage(''), content: [refusal, spoken] },
      ],
    ]);
    const agent = new Agent({
      name: 'it',
      model: openAiAgentsJudge(kernel, { given }).model(model),
    });
    await runner(model)
      .run(agent, 'go')
      .catch(() => undefined); // the SDK ends a refused run by an error
    expect(heard).toEqual([['I refuse. I speak.', 'In short. At length.']]);
  });

  const invoke = async (model: object, rule = refusing(), more: object = {}) => {
    const middleware = langChainJudge(rule, { given }).middleware();
    const agent = createAgent({ model: model as never, tools: [], middleware, ...more });
    return await agent.invoke({ messages: [{ role: 'user', content: 'go' }] });
  };

  it('of LangChain may have a configuration bound to it', async () => {
    const model = langChainModel([[]], ['sk-SECRET']).withConfig({ tags: ['mine'] });
    const { messages } = await invoke(model);
    expect(messages.at(-1)?.text).toBe('[withheld: a handler that guards answers failed]');
  });

  it('of LangChain is judged before LangChain reads a structured answer of it', async () => {
    const model = langChainModel([[]], ['{"key":"sk-SECRET"}']);
    const responseFormat = providerStrategy(z.object({ key: z.string() }));
    const result = await invoke(model, changing(clean), { responseFormat });
    expect(result).toMatchObject({ structuredResponse: { key: '[hidden]' } });
    expect(JSON.stringify(result)).not.toContain('SECRET');
  });

  it('of LangChain is judged by its thoughts and its refusal, which stand beside its content', async () => {
    const heard: unknown[] = [];
    const kernel = changing(({ text, thinking }) => {
      heard.push([text, thinking]);
      return text.includes('twice') ? { text: 'Once.' } : undefined;
    });
    const additional_kwargs = {
      reasoning_content: 'I recall sk-SECRET.',
      refusal: 'I refuse twice.',
    };
    const response_metadata = { model_provider: 'deepseek' };
    const answer = new AIMessage({ content: '', additional_kwargs, response_metadata });
    const result = await invoke(fakeModel().respond(answer), kernel);
    expect(heard).toEqual([['I refuse twice.', 'I recall sk-SECRET.']]);
    expect(result.messages.at(-1)?.text).toBe('Once.');
    expect(JSON.stringify(result)).not.toContain('SECRET'); // it has no place in the content
  });

  it('of LangChain that the judge cannot reach ends the run, whatever is judged', async () => {
    const kernel = createKernel();
    kernel.contribute({
      ...{ ...acme, family: 'agent.llm.calling', class: 'veto', id: 'no' },
      handler: () => cancel('policy', { reply: 'No.' }),
    });
    const model = langChainModel([[]]).pipe((message) => message);
    await expect(invoke(model, kernel)).rejects.toThrow('was not asked through the judge');
  });

  it('of LangChain is asked: a middleware inside of the judge that answers for it ends the run', async () => {
    const answers = createMiddleware({
      name: 'answers',
      wrapModelCall: () => new AIMessage('sk-SECRET'),
    });
    const judged = langChainJudge(refusing(), { given });
    const agent = createAgent({
      model: langChainModel([]),
      tools: [],
      middleware: [...judged.middleware(), answers] as never,
    });
    await expect(agent.invoke({ messages: [] } as never)).rejects.toThrow(
      'a middleware inside of it has answered',
    );
  });

  it('is named among those that stand inside of the judge', () => {
    const judged = langChainJudge(createKernel(), { given });
    const inner = createMiddleware({ name: 'inner', wrapModelCall: (one, next) => next(one) });
    expect(() => judged.middleware([...judged.middleware(), inner])).toThrow('"inner"');
  });

  it('ends the turn with the words of a veto', async () => {
    const kernel = createKernel();
    kernel.contribute({
      ...{ extensionId: 'acme', family: 'agent.llm.returning', class: 'veto', id: 'no' },
      handler: () => cancel('policy', { reply: 'No.' }),
    });
    const { messages } = await invoke(langChainModel([[shell]]), kernel);
    expect(messages.at(-1)?.text).toBe('No.');
  });
});
