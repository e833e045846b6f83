import { describe, expect, it } from 'vitest';
import { cancel, type Kernel, select } from '../../src/kernel/internal.js';
import { textOf } from '../../src/sdk/stream/index.js';
import { end, said, scripted, start, turnLab } from '../support/turn-lab.js';

const at = { family: 'agent.answer.resolving', extensionId: 'test' } as const;
const gated = { ...at, family: 'agent.llm.calling', class: 'veto', id: 'gate' } as const;

/** A provider that counts how often it is called. */
function counting() {
  const calls: string[] = [];
  const provider = scripted(async function* ({ prompt }) {
    calls.push(prompt);
    yield start;
    yield* said('by the model');
    yield end();
  });
  return { provider, calls };
}

const answers = (kernel: Kernel, text?: string): void => {
  const handler = () => select(text === undefined ? {} : { text });
  kernel.contribute({ ...at, class: 'resolver', id: 'answers', handler });
};

describe('an answer in place of the model (event-pipeline §16.25)', () => {
  it('is told, grows and is written as the words of a model are, and no model is called', async () => {
    const { provider, calls } = counting();
    const grown: string[] = [];
    const { result, written, families, outcomes } = turnLab({
      provider,
      contribute: (kernel) => answers(kernel, 'by a handler'),
      callbacks: { onPartialReply: ({ text }) => void grown.push(text ?? '') },
    });
    const { status, assistantTexts, replyTexts, attempts } = await result;
    expect({ status, assistantTexts, replyTexts }).toEqual({
      status: 'completed',
      assistantTexts: ['by a handler'],
      replyTexts: ['by a handler'],
    });
    expect(calls).toEqual([]);
    expect(attempts[0]?.model).toBeUndefined();
    expect(grown).toEqual(['by', 'by a', 'by a handler']);
    expect(written.map((entry) => [entry.role, textOf(entry as never)])).toEqual([
      ['user', 'hello'],
      ['assistant', 'by a handler'],
    ]);
    const asked = families().filter((family) => /^agent\.(llm|model|prompt)/.test(family));
    expect(asked).toEqual([]);
    const completed = outcomes.find(({ event }) => event.family === 'agent.completed');
    expect(completed?.payload).toMatchObject({ success: true });
  });

  it('is looked for before the model and the prompt, once it is known what is asked', async () => {
    let seen: unknown;
    let before: readonly string[] = [];
    const { result, families } = turnLab({
      provider: counting().provider,
      contribute: (kernel) => {
        const handler = ({ payload }: { readonly payload: unknown }) => {
          seen = payload;
          before = families();
        };
        kernel.contribute({ ...at, class: 'resolver', id: 'sees', handler });
      },
    });
    expect(await result).toMatchObject({ assistantTexts: ['by the model'] });
    expect(seen).toMatchObject({ prompt: 'hello', messages: [], attempt: 1 });
    expect(before).toEqual(['agent.starting']);
  });

  it('says nothing if the candidate has no words', async () => {
    for (const text of [undefined, ' ']) {
      const { provider, calls } = counting();
      const { result, written } = turnLab({
        provider,
        contribute: (kernel) => answers(kernel, text),
      });
      expect(await result).toMatchObject({ status: 'completed', assistantTexts: [] });
      expect(calls).toEqual([]);
      expect(written.map(({ role }) => role)).toEqual(['user']);
    }
  });

  it('is asked for again at another attempt', async () => {
    const seen: unknown[] = [];
    const provider = scripted(async function* () {
      yield start;
      throw new Error('overloaded');
    });
    const { result } = turnLab({
      provider,
      retry: { maxAttempts: 2 },
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          class: 'resolver',
          id: 'second',
          handler: ({ payload }) => {
            seen.push(payload.attempt);
            return payload.attempt === 2 ? select({ text: 'The model is busy.' }) : undefined;
          },
        }),
    });
    expect(await result).toMatchObject({
      status: 'completed',
      assistantTexts: ['The model is busy.'],
    });
    expect(seen).toEqual([1, 2]);
  });
});

describe('a gate before the model (event-pipeline §16.25)', () => {
  it('sees the prompt as the model would read it', async () => {
    let seen: unknown;
    const { result } = turnLab({
      provider: counting().provider,
      systemPrompt: 'Be brief.',
      contribute: (kernel) => {
        kernel.contribute({
          family: 'agent.prompt.building',
          class: 'mutator',
          extensionId: 'test',
          id: 'adds',
          handler: () => ({ additions: ['It rains.'] }),
        });
        const handler = ({ payload }: { readonly payload: unknown }) => void (seen = payload);
        kernel.contribute({ ...gated, handler });
      },
    });
    expect(await result).toMatchObject({ assistantTexts: ['by the model'] });
    expect(seen).toMatchObject({
      prompt: 'hello',
      composedPrompt: 'It rains.\n\nhello',
      systemPrompt: 'Be brief.',
      messages: [],
      attempt: 1,
      provider: 'scripted',
      model: 'm',
    });
  });

  it('is not asked about an answer in place of the model', async () => {
    let asked = 0;
    const { result } = turnLab({
      provider: counting().provider,
      contribute: (kernel) => {
        answers(kernel, 'by a handler');
        kernel.contribute({ ...gated, handler: () => void asked++ });
      },
    });
    expect(await result).toMatchObject({ assistantTexts: ['by a handler'] });
    expect(asked).toBe(0);
  });

  it('keeps the prompt from the model, and the transcript from the prompt', async () => {
    const { provider, calls } = counting();
    const { result, written } = turnLab({
      provider,
      retry: { maxAttempts: 3 },
      contribute: (kernel) => {
        const handler = () => cancel('unsafe', { text: 'it holds a key' });
        kernel.contribute({ ...gated, handler });
      },
    });
    const { status, error, attempts } = await result;
    expect(status).toBe('failed');
    expect(error).toMatchObject({
      code: 'stage-failed',
      message: 'agent.llm.calling was cancelled by test/gate: unsafe (it holds a key)',
      cancel: { code: 'unsafe', extensionId: 'test' },
    });
    expect([calls, written, attempts.length]).toEqual([[], [], 1]);
  });

  it('that fails closed keeps it from the model, too, and says no cancel', async () => {
    const { provider, calls } = counting();
    const { result } = turnLab({
      provider,
      contribute: (kernel) =>
        kernel.contribute({
          ...gated,
          failClosed: true,
          handler: () => {
            throw new Error('no rules');
          },
        }),
    });
    const { error } = await result;
    expect(error).toEqual({ code: 'stage-failed', message: expect.stringContaining('threw in') });
    expect(calls).toEqual([]);
  });
});
