import { describe, expect, it } from 'vitest';
import { cancel, type Kernel } from '../../../src/kernel/internal.js';
import { MessageWriter, type SessionEvent } from '../../../src/sdk/stream/index.js';
import { scripted, turnLab } from '../../support/turn-lab.js';

const secret = 'sk-live-4711';
const at = { extensionId: 'guard', id: 'it', family: 'agent.llm.returning' } as const;
const veto = (kernel: Kernel): void =>
  void kernel.contribute({
    ...{ ...at, class: 'veto', failClosed: true, preview: 'ok' },
    handler: () => cancel('unsafe'),
  });

/** A turn of an agent that asks for the judgement of its model's answers. */
function turnOf(events: (writer: MessageWriter) => Iterable<SessionEvent>, contribute = veto) {
  const shown: unknown[] = [];
  const provider = scripted(
    async function* () {
      const writer = new MessageWriter({ provider: 'p', model: 'm' });
      yield* events(writer);
      yield { type: 'agent_end', messages: writer.messages };
    },
    { modelGate: 'enforce' },
  );
  const callbacks = { onBlockReply: (block: unknown) => void shown.push(block) };
  return { lab: turnLab({ provider, contribute, callbacks, outOfOrder: true }), shown };
}

describe('an answer of a model that somebody judges (§16.32)', () => {
  it('is not said if its provider never ends it: nobody has judged it', async () => {
    const { lab, shown } = turnOf(function* (writer) {
      yield { type: 'agent_start' };
      yield* writer.grow('text', secret);
    });
    expect(await lab.result).toMatchObject({ status: 'failed', error: { code: 'stage-failed' } });
    expect(JSON.stringify([shown, lab.written])).not.toContain(secret);
  });

  it('is not said either if another message follows it', async () => {
    const { lab, shown } = turnOf(
      function* (writer) {
        yield { type: 'agent_start' };
        yield* writer.grow('text', secret);
        const next = new MessageWriter({ provider: 'p', model: 'm' });
        yield* next.grow('text', 'fine');
        yield* next.end();
      },
      (kernel) => {
        const clean = { ...at, class: 'mutator', failClosed: true, preview: 'ok' } as const;
        kernel.contribute({ ...clean, handler: () => ({ text: 'clean' }) });
      },
    );
    await lab.result;
    expect(JSON.stringify([shown, lab.written])).not.toContain(secret);
  });

  it('has its placeholder behind the prompt, also if the agent does not say that it begins', async () => {
    const { lab } = turnOf(function* (writer) {
      yield* writer.grow('text', secret);
      yield* writer.end();
    });
    await lab.result;
    const text = expect.stringContaining('[withheld: unsafe]');
    expect(lab.written).toMatchObject([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ text }] },
    ]);
  });

  it('is quoted to no extension by the error of the handler that guards it', async () => {
    const { lab } = turnOf(
      function* (writer) {
        yield { type: 'agent_start' };
        yield* writer.grow('text', secret);
        yield* writer.end();
      },
      (kernel) =>
        void kernel.contribute({
          ...{ ...at, class: 'mutator', failClosed: true },
          handler: ({ payload }) => {
            throw new Error(`cannot clean ${payload.text}`);
          },
        }),
    );
    await lab.result;
    const ends = lab.outcomes.filter(({ event }) => /completed|output/.test(event.family));
    expect(ends.length).toBeGreaterThan(1);
    expect(JSON.stringify(ends.map(({ event }) => event.payload))).not.toContain(secret);
    expect(JSON.stringify(ends)).toContain('threw in guard/it');
  });

  it('gives each call that a handler adds an id of its own', async () => {
    const call = { toolCallId: 'c-1', toolName: 'other', params: {} };
    const ids: string[][] = [];
    const provider = scripted(
      async function* ({ llmReturning }) {
        yield { type: 'agent_start' };
        for (const id of ['c-1', 'c-2']) {
          const writer = new MessageWriter({ provider: 'p', model: 'm' });
          yield* writer.call({ id, name: 'one', arguments: {} });
          yield* writer.end();
          const [said] = writer.messages;
          const { content = [] } = said ? await llmReturning(said) : {};
          ids.push(content.flatMap((block) => (block.type === 'toolCall' ? block.id : [])));
        }
        yield { type: 'agent_end', messages: [] };
      },
      { modelGate: 'enforce' },
    );
    const lab = turnLab({
      ...{ provider, outOfOrder: true },
      contribute: (kernel) => {
        const add = { ...at, class: 'mutator' } as const;
        kernel.contribute({
          ...add,
          handler: ({ payload: { text, calls } }) => ({ text, calls: [...calls, call] }),
        });
      },
    });
    await lab.result;
    expect(ids.flat()).toHaveLength(4);
    expect(new Set(ids.flat()).size).toBe(4);
    expect(ids.map(([first]) => first)).toEqual(['c-1', 'c-2']);
  });
});
