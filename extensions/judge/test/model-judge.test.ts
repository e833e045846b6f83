import { getEventListeners } from 'node:events';
import { cancel, createKernel, type PayloadOf } from 'sluice-kernel';
import { describe, expect, it } from 'vitest';
import { type AnswerPart, type JudgeOptions, modelJudge } from '../src/index.js';

type Answer = PayloadOf<'agent.llm.returning'>;
interface Whole {
  readonly parts: readonly object[];
}

const given = () => ({});
const shape = {
  blocks: ({ parts }: Whole) => parts,
  read: (block: object) => Object(block) as AnswerPart, // the blocks of this framework are parts
  write: (part: AnswerPart) => part,
  remade: (parts: object[]): Whole => ({ parts }),
};
const call = { provider: 'p', model: 'm', messages: [{ role: 'user', content: 'go' }] };
const called = (params: unknown, toolCallId = 'c') => {
  return { type: 'call', toolCallId, toolName: 'shell', params };
};

/** Judges an answer by one closed mutator. */
async function left(parts: object[], rule: (answer: Answer) => unknown, options = {}) {
  const kernel = createKernel();
  kernel.contribute({
    ...{ extensionId: 'acme', family: 'agent.llm.returning', class: 'mutator', id: 'rule' },
    failClosed: true,
    handler: (({ payload }: { payload: Answer }) => rule(payload)) as never, // also nonsense
  });
  return await modelJudge(kernel, { given, ...options }, shape)(call, async () => ({ parts }));
}

describe('the judge of a model (§16.32)', () => {
  it('refuses wrong options by name', () => {
    const options = {} as JudgeOptions;
    expect(() => modelJudge(createKernel(), options, shape)).toThrow(/"given" must be a function/);
  });

  it('gives a call that was added, or told twice, an id of its own', async () => {
    const { parts } = await left([called({ n: 1 })], ({ calls }) => ({
      calls: [...calls, ...calls, { toolCallId: 'c2', toolName: 'x', params: {} }],
    }));
    const ids = parts.map((part) => Object(part).toolCallId);
    expect([ids.length, ids[0], new Set(ids).size]).toEqual([3, 'c', 3]);
    expect(ids).not.toContain('c2');
  });

  it.each(['a text', null, [1], undefined])(
    'hides arguments that are no object: %j',
    async (params) => {
      const heard: unknown[] = [];
      const { parts } = await left(
        [called(params)],
        ({ calls }) => void heard.push(calls[0]?.params),
      );
      expect([heard, Object(parts[0]).params]).toEqual([[{}], null]);
    },
  );

  it('lets no handler change the arguments in place', async () => {
    const params = { deep: { n: 1 } };
    await left([called(params)], () => ({ text: 'other' }));
    params.deep.n = 2; // they are the framework's own
    expect(params).toEqual({ deep: { n: 2 } });
  });

  it('rejects as the model does, and keeps no trace of a call that is over', async () => {
    const { signal } = new AbortController();
    const kernel = createKernel();
    kernel.contribute({
      ...{ extensionId: 'acme', family: 'agent.llm.calling', class: 'veto', id: 'no' },
      handler: ({ payload: { prompt } }) => (prompt === 'no' ? cancel('policy') : undefined),
    });
    const judge = modelJudge(kernel, { given, signal: new AbortController().signal }, shape);
    const overloaded = () => Promise.reject(new Error('overloaded'));
    await expect(judge({ ...call, signal }, overloaded)).rejects.toThrow('overloaded');
    const refused = { ...call, messages: [{ role: 'user', content: [{ text: 'no' }] }], signal };
    expect(await judge(refused, overloaded)).toEqual({
      parts: [{ type: 'text', text: '[withheld: policy]' }],
    });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
