import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dispatchTap } from '../../src/host/timeline/dispatch-tap.js';
import { allow, cancel, type Kernel, type Outcome } from '../../src/kernel/internal.js';
import type { AgentToolResult, ToolDefinition } from '../../src/sdk/stream/index.js';
import { scriptedAgent } from '../../src/testing/index.js';
import { scripted, turnLab } from '../support/turn-lab.js';

const secret = 'sk-live-4711';
const at = { extensionId: 'guard', id: 'clean', family: 'agent.tool.returning' } as const;
const lookup: ToolDefinition = {
  name: 'lookup',
  description: 'Looks something up.',
  inputSchema: { type: 'object', properties: {} },
  execute: (_args, { onUpdate }) => {
    onUpdate?.(`so far: ${secret}`);
    return {
      content: [{ type: 'text', text: `the key is ${secret}` }],
      isError: false,
      details: { key: secret },
    };
  },
};

/** A turn whose model calls a tool once, and then says what it was told. */
async function turnWith(contribute: (kernel: Kernel) => unknown, tool = lookup) {
  const shown: unknown[] = [];
  const provider = scriptedAgent([[{ tool: 'lookup', args: {} }, 'Done.']]);
  const lab = turnLab({
    provider,
    tools: () => [tool],
    contribute,
    callbacks: { onToolResult: (result) => void shown.push(result) },
  });
  const { status } = await lab.result;
  const told: Outcome<'agent.tool.called'>[] = [];
  for (const outcome of lab.outcomes)
    if (outcome.event.family === 'agent.tool.called')
      told.push(outcome as Outcome<'agent.tool.called'>); // its family says so
  const [called] = told;
  const result = called?.payload.result as AgentToolResult;
  const kept = lab.written.find(({ role }) => role === 'toolResult');
  return { ...lab, status, called: called?.payload, result, kept, shown };
}

const text = ({ content }: AgentToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

describe('agent.tool.returning (§16.31)', () => {
  it('lets a mutator clean a result before anybody reads it', async () => {
    const seen = await turnWith((kernel) =>
      kernel.contribute({
        ...at,
        class: 'mutator',
        failClosed: true,
        handler: () => ({ result: { content: [{ type: 'text', text: '[key]' }], isError: false } }),
      }),
    );
    expect(text(seen.result)).toBe('[key]');
    expect(seen.kept).toMatchObject({ content: [{ type: 'text', text: '[key]' }], isError: false });
    const after = seen.outcomes.filter(({ event }) => event.family !== 'agent.tool.returning');
    const read = after.map(({ event, payload }) => ({ event: event.payload, payload }));
    expect(JSON.stringify([read, seen.written, seen.shown])).not.toContain(secret);
  });

  it.each(['mutator', 'veto', 'augmenter'] as const)(
    'keeps the result as the tool gave it out of the journal, but for a digest, and out of the log, if a %s is in its way',
    async (name) => {
      const bodies: string[] = [];
      const tap = dispatchTap({ dispatched: ({ body }) => void bodies.push(body) });
      const throws = (): never => {
        throw new Error('broken');
      };
      const cleans = { content: [{ type: 'text', text: '[key]' }], isError: false };
      const handlers = { mutator: () => ({ result: cleans }), veto: throws, augmenter: throws };
      const guard: object = { ...at, class: name, failClosed: true, handler: handlers[name] };
      const failing = { ...lookup, execute: () => Promise.reject(new Error(secret)) };
      for (const tool of [lookup, failing]) {
        const seen = await turnWith((kernel) => {
          kernel.tap(tap);
          kernel.contribute(guard as never); // what a veto that throws returns is no decision
        }, tool);
        expect(JSON.stringify([seen.log.entries, seen.written, seen.shown])).not.toContain(secret);
      }
      expect(bodies.length).toBeGreaterThan(10);
      expect(bodies.join()).not.toContain(secret);
      const kept = bodies.map((body) => JSON.parse(body).event);
      const results = kept.filter(({ family }) => family === at.family);
      const digests = results.map(({ payload }) => payload.result);
      expect(digests).toEqual(
        [1, 2].map(() => expect.stringMatching(/^\[left out\] sha256:\w{64}$/)),
      );
      expect(new Set(digests).size).toBe(2); // each of its result
    },
  );

  it('is given details that nest too deep for a payload as none, and the text stays', async () => {
    let deep: object = {};
    for (let level = 0; level < 600; level++) deep = { deep };
    const tool = { ...lookup, execute: () => ({ content: 'a text', details: deep }) };
    const watches = { ...at, class: 'observer', handler: () => undefined } as const;
    const seen = await turnWith((kernel) => kernel.contribute(watches), tool);
    expect(text(seen.result)).toBe('a text');
    expect(seen.called?.isError).toBe(false);
  });

  it('gives the model the text of a cancel, and the turn goes on', async () => {
    const seen = await turnWith((kernel) =>
      kernel.contribute({
        ...at,
        class: 'veto',
        failClosed: true,
        handler: ({ payload }) =>
          JSON.stringify(payload.result).includes(secret)
            ? cancel('unsafe', { text: 'It held a key.' })
            : allow(),
      }),
    );
    expect(seen.status).toBe('completed');
    expect(seen.called).toMatchObject({ isError: true, error: 'It held a key.' });
    expect(seen.kept).toMatchObject({ isError: true });
    expect(JSON.stringify([seen.written, seen.shown])).not.toContain(secret);
  });

  it('gives the code of a cancel without a text', async () => {
    const seen = await turnWith((kernel) =>
      kernel.contribute({ ...at, class: 'veto', handler: () => cancel('blocked') }),
    );
    expect(text(seen.result)).toBe('blocked');
  });

  it.each([
    ['no part of it, if a handler may change it', { class: 'mutator' }, 0],
    [
      'no part of it, if a fail-closed handler adds to it',
      { class: 'augmenter', failClosed: true },
      0,
    ],
    ['each part as it comes, if nobody judges it', { class: 'observer' }, 1],
  ] as const)('shows %s', async (_what, handler, parts) => {
    const shown: unknown[] = [];
    const provider = scripted(
      async function* ({ tools = [] }) {
        yield { type: 'agent_start' };
        const onUpdate = (part: unknown) => void shown.push(part);
        await tools[0]?.call({ toolCallId: 't', args: {}, onUpdate });
        yield { type: 'agent_end', messages: [] };
      },
      { ownTools: [] },
    );
    const contribute = (kernel: Kernel) =>
      kernel.contribute({ ...at, ...handler, handler: () => undefined });
    await turnLab({ provider, tools: () => [lookup], contribute }).result;
    expect(shown).toHaveLength(parts);
  });

  it('makes no success of a failure', async () => {
    const fails = { ...lookup, execute: () => Promise.reject(new Error('no such host')) };
    const seen = await turnWith(
      (kernel) =>
        kernel.contribute({
          ...at,
          class: 'mutator',
          handler: () => ({ result: { content: [{ type: 'text', text: 'ok' }], isError: false } }),
        }),
      fails,
    );
    expect(seen.result.isError).toBe(true);
    expect(seen.called?.isError).toBe(true);
    expect(seen.kept).toMatchObject({ isError: true });
  });

  it('is told once for a call, between its run and agent.tool.called', async () => {
    const seen = await turnWith(() => undefined);
    const tools = seen.families().filter((family) => family.startsWith('agent.tool.'));
    expect(tools).toEqual(['agent.tool.calling', 'agent.tool.returning', 'agent.tool.called']);
  });

  it('can only observe a result that its provider has read before', async () => {
    const ended = { type: 'tool_execution_end', toolCallId: 't', toolName: 'own' } as const;
    const { result, outcomes } = turnLab({
      provider: scripted(async function* () {
        yield { type: 'agent_start' };
        yield { type: 'tool_execution_start', toolCallId: 't', toolName: 'own', args: {} };
        yield { ...ended, result: 'read already', isError: false };
        yield { type: 'agent_end', messages: [] };
      }),
      contribute: (kernel) =>
        kernel.contribute({ ...at, class: 'veto', handler: () => cancel('policy') }),
    });
    await result;
    const judged = outcomes.find(({ event }) => event.family === 'agent.tool.returning');
    expect(judged?.failures).toMatchObject([{ kind: 'observe-only' }]);
    const called = outcomes.find(({ event }) => event.family === 'agent.tool.called');
    expect(called?.payload).toMatchObject({ result: 'read already', isError: false });
  });

  it('lets nothing out whatever a fail-closed handler does', async () => {
    const misdeed = fc.constantFrom('throws', 'rejects', 'hangs', 'nonsense', 'writes');
    await fc.assert(
      fc.asyncProperty(misdeed, fc.constantFrom('mutator', 'veto'), async (does, name) => {
        const guard: object = { ...at, class: name, failClosed: true, handler: misbehaving(does) };
        const shown: unknown[] = [];
        const lab = turnLab({
          provider: scriptedAgent([[{ tool: 'lookup', args: {} }, 'Done.']]),
          tools: () => [lookup],
          contribute: (kernel) => kernel.contribute(guard as never), // what does not compile is tried, too
          callbacks: { onToolResult: (result) => void shown.push(result) },
        });
        await lab.clock.advance(60_000);
        expect((await lab.result).status).toBe('completed');
        expect(JSON.stringify([lab.written, shown])).not.toContain(secret);
        expect(JSON.stringify(lab.written)).toContain('withheld');
      }),
      { numRuns: 20 },
    );
  });
});

function misbehaving(does: string): (call: { readonly payload: object }) => unknown {
  return ({ payload }) => {
    if (does === 'throws') throw new Error(secret.length > 0 ? 'broken' : '');
    if (does === 'rejects') return Promise.reject(new Error('broken'));
    if (does === 'hangs') return new Promise(() => undefined);
    if (does === 'writes') Object.assign(payload, { toolName: 'other' });
    return 5;
  };
}
