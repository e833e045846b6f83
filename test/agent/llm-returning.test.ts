import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dispatchTap } from '../../src/host/timeline/dispatch-tap.js';
import { allow, cancel, type Outcome, select } from '../../src/kernel/internal.js';
import { defineExtension } from '../../src/sdk/extension/index.js';
import type { AgentProvider, SessionEvent, ToolDefinition } from '../../src/sdk/stream/index.js';
import { type AgentStep, scriptedAgent, virtualClock } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';
import { type StreamingChannel, streamingChannel } from '../support/streaming-channel.js';
import { said, scripted, start, type TurnLabOptions, turnLab } from '../support/turn-lab.js';

const secret = 'sk-live-4711';
const at = { extensionId: 'guard', id: 'clean', family: 'agent.llm.returning' } as const;
const steps: readonly AgentStep[] = [
  { thinking: `I know ${secret}.` },
  `The key is ${secret}.`,
  { tool: 'post', args: { key: secret } },
  'Done.',
];

interface Case {
  readonly name: 'mutator' | 'veto' | 'observer';
  readonly does: 'ok' | 'throws' | 'hangs' | 'cancels' | 'nonsense';
  readonly streams: boolean;
  readonly preview: boolean;
  readonly calls: boolean;
  readonly thoughts: 'off' | 'on' | 'stream';
}

function handlerOf({
  name,
  does,
}: Case): (call: { readonly payload: Outcome<'agent.llm.returning'>['payload'] }) => unknown {
  return ({ payload }) => {
    if (does === 'throws') throw new Error('broken');
    if (does === 'hangs') return new Promise(() => undefined);
    if (does === 'nonsense') return 5;
    if (does === 'cancels') return cancel('unsafe', { reply: 'I may not say that.' });
    if (name === 'veto') return allow();
    if (name === 'observer') return undefined;
    const clean = (text: string) => text.replaceAll(secret, '[key]');
    return {
      text: clean(payload.text),
      ...(payload.thinking !== undefined && { thinking: clean(payload.thinking) }),
      calls: payload.calls.map((call) => ({
        ...call,
        params: JSON.parse(clean(JSON.stringify(call.params))),
      })),
    };
  };
}

/** Two messages to a host whose model tells a secret, and all that anybody could read of it. */
async function hostWith(one: Case) {
  const ran: unknown[] = [];
  const bodies: string[] = [];
  const clock = virtualClock();
  const post: ToolDefinition = {
    ...{ name: 'post', description: 'Posts.', inputSchema: { type: 'object' } },
    execute: (args) => {
      ran.push(args);
      return 'posted';
    },
  };
  const agent = scriptedAgent([
    steps.filter((step) => one.calls || !Object.hasOwn(Object(step), 'tool')),
  ]);
  const streaming = streamingChannel();
  const channel = one.streams ? streaming : scriptedChannel();
  const { does, name, preview } = one;
  const guard: object = {
    ...{ ...at, class: name, handler: handlerOf(one) },
    ...(name !== 'observer' && { failClosed: true }),
    ...(preview && name !== 'observer' && { preview: 'ok' }),
  };
  await using lab = await hostLab({
    ...{ channel, clock, agents: [{ id: 'main', provider: agent }] },
    contribute: (kernel) => {
      kernel.tap(
        dispatchTap(
          { dispatched: ({ body }) => void bodies.push(body) },
          { hotPathPayloads: true },
        ),
      );
      kernel.contribute(guard as never); // what does not compile is tried, too
    },
    replies: { reasoningMode: one.thoughts },
    extensions: [
      { extension: defineExtension({ id: 'tools', setup: (api) => api.provide('tool', post) }) },
    ],
  });
  const first = lab.say('hello');
  if (does === 'hangs') await clock.advance(120_000);
  const end = await first;
  const again = lab.say('again');
  if (does === 'hangs') await clock.advance(120_000);
  await again;
  const history = agent.requests[1]?.history ?? [];
  const seen = lab.outcomes.filter(({ event }) => event.family !== at.family);
  const { screen, everShown } = channel as StreamingChannel;
  return {
    ...{ end, ran, history, bodies, log: lab.log.entries, texts: lab.texts(), screen, everShown },
    seen: seen.map(({ event, payload }) => ({ event: event.payload, payload })),
    calls: lab.of('agent.llm.calling').length,
  };
}

const cases = fc.record<Case>({
  name: fc.constantFrom('mutator', 'veto', 'observer'),
  does: fc.constantFrom('ok', 'throws', 'hangs', 'cancels', 'nonsense'),
  streams: fc.boolean(),
  preview: fc.boolean(),
  calls: fc.boolean(),
  thoughts: fc.constantFrom('off', 'on', 'stream'),
});

describe('agent.llm.returning (§16.32)', () => {
  it('lets nothing out that a fail-closed handler has kept back, cleaned or failed to judge', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const seen = await hostWith(one);
        const passes = one.name === 'observer' || (one.name === 'veto' && one.does === 'ok');
        const cleans = one.name === 'mutator' && one.does === 'ok';
        const kept = JSON.stringify([seen.history, seen.ran, seen.texts, seen.screen ?? []]);
        expect(kept.includes(secret)).toBe(passes);
        if (!passes && !one.preview) {
          const read = JSON.stringify([seen.seen, seen.log, seen.bodies, seen.everShown ?? []]);
          expect(read).not.toContain(secret);
        }
        expect(seen.end.status).toBe(
          passes || cleans
            ? 'answered'
            : one.does === 'cancels' && one.name === 'veto'
              ? 'cancelled'
              : 'failed',
        );
        if (passes || cleans) {
          expect(seen.ran).toHaveLength(one.calls ? 2 : 0);
          expect(kept).toContain('Done.');
        } else {
          expect(seen.ran).toEqual([]);
          expect(JSON.stringify(seen.history)).toContain('[withheld: ');
          expect(seen.calls).toBe(2); // once for each message: none is asked again
        }
        if (one.does === 'cancels' && one.name === 'veto')
          expect(seen.texts).toContain('I may not say that.');
      }),
      { numRuns: 40 },
    );
  });

  /** A turn whose handler puts `[key]` in the place of the secret, and the session events that were told. */
  async function turnWith(options: TurnLabOptions & { readonly guard?: object }) {
    const told: SessionEvent[] = [];
    const { guard = { class: 'mutator', handler: cleans }, ...rest } = options;
    const lab = turnLab({
      contribute: (kernel) => kernel.contribute({ ...at, ...guard } as never), // its class says the rest
      callbacks: { onEvent: (event) => void told.push(structuredClone(event)) },
      ...rest,
    });
    return { ...lab, told, ended: await lab.result };
  }
  const cleans = ({ payload }: { readonly payload: { readonly text: string } }) => ({
    text: payload.text.replace(secret, '[key]'),
  });
  const says = (fields: Partial<AgentProvider> = {}) =>
    scripted(async function* () {
      const message = {
        role: 'assistant',
        content: [{ type: 'text', text: `It is ${secret}.` }],
      } as const;
      yield start;
      for (const event of said(`It is ${secret}.`)) yield event;
      yield { type: 'agent_end', messages: [message] };
    }, fields);

  it('tells no session event, the last one included, with a word that a handler has taken out', async () => {
    const { told, ended } = await turnWith({ provider: says({ modelGate: 'enforce' }) });
    expect(told.map(({ type }) => type)).toEqual([
      ...['agent_start', 'message_start', 'message_update', 'message_update', 'message_update'],
      ...['message_end', 'agent_end'],
    ]);
    expect(JSON.stringify(told)).not.toContain(secret);
    expect(ended.assistantTexts).toEqual(['It is [key].']);
  });

  it('holds nothing back if each handler lets parts be shown, and puts the whole right', async () => {
    const { told, ended, outcomes } = await turnWith({
      provider: says({ modelGate: 'enforce' }),
      guard: { class: 'mutator', preview: 'ok', handler: cleans },
    });
    expect(told.filter(({ type }) => type === 'message_update').length).toBeGreaterThan(3);
    expect(JSON.stringify(told.at(-2))).toContain('[key]');
    expect(ended.assistantTexts).toEqual(['It is [key].']);
    const judged = outcomes.find(({ event }) => event.family === at.family);
    expect(judged?.event.payload).toMatchObject({ streaming: true });
  });

  it('holds nothing back for a handler of another channel', async () => {
    const { told } = await turnWith({
      provider: says({ modelGate: 'enforce' }),
      message: { text: 'hello', channel: 'console' },
      guard: { class: 'veto', match: { channel: 'pigeon' }, handler: () => cancel('unsafe') },
    });
    expect(told.filter(({ type }) => type === 'message_update').length).toBeGreaterThan(3);
  });

  it('can only observe an agent that does not call its models itself', async () => {
    const { outcomes, ended } = await turnWith({ provider: says() });
    const judged = outcomes.find(({ event }) => event.family === at.family);
    expect(judged?.failures).toMatchObject([{ kind: 'observe-only' }]);
    expect(ended.assistantTexts).toEqual([`It is ${secret}.`]);
  });

  it('is not told of an answer that nobody judges, or that no model has given', async () => {
    const unheard = turnLab({ provider: scriptedAgent([['Hello.']]) });
    await unheard.result;
    expect(unheard.count(at.family)).toBe(0);
    const given = await turnWith({
      contribute: (kernel) => {
        kernel.contribute({ ...at, class: 'observer', handler: () => undefined });
        const family = 'agent.answer.resolving';
        const resolver = { ...at, id: 'given', family, class: 'resolver' } as const;
        kernel.contribute({ ...resolver, handler: () => select({ text: 'Given.' }) });
      },
    });
    expect(given.count(at.family)).toBe(0);
  });

  it('takes an answer that a handler has emptied for one that was given', async () => {
    const agent = scriptedAgent([['Hello.']]);
    const { ended } = await turnWith({
      provider: agent,
      mustAnswer: true,
      retry: { maxAttempts: 3 },
      guard: { class: 'mutator', handler: () => ({ text: '' }) },
    });
    expect(ended.status).toBe('completed');
    expect(agent.requests).toHaveLength(1);
  });

  it('makes the calls that a handler has left, changed and added, and asks the gate about each', async () => {
    const ran: unknown[] = [];
    const result = (args: unknown) => ran.push(args);
    const { outcomes } = await turnWith({
      provider: scriptedAgent([[{ tool: 'post', args: { n: 1 }, result }, 'Done.']]),
      guard: {
        class: 'mutator',
        handler: ({ payload: { calls } }: { payload: { calls: readonly object[] } }) =>
          calls.length > 0 && {
            calls: [
              { ...calls[0], params: { n: 2 } },
              { toolName: 'post', toolCallId: 'added', params: { n: 3 } },
            ],
          },
      },
    });
    expect(ran).toEqual([{ n: 2 }, { n: 3 }]);
    const asked = outcomes.filter(({ event }) => event.family === 'agent.tool.calling');
    expect(asked).toHaveLength(2);
  });
});

describe('agent.llm.calling (§16.33)', () => {
  const look: AgentStep = { tool: 'look', result: 'sunny' };
  const stage = { ...at, family: 'agent.llm.calling', class: 'veto' } as const;

  it('is dispatched for each call, with what was written before it', async () => {
    const calls: unknown[] = [];
    await turnLab({
      provider: scriptedAgent([['One.', look, 'Two.', look, 'Three.']]),
      contribute: (kernel) =>
        kernel.contribute({
          ...stage,
          handler: ({ payload }) => void calls.push([payload.call, payload.messages?.length]),
        }),
    }).result;
    expect(calls).toEqual([
      [1, 0],
      [2, 2],
      [3, 4],
    ]);
  });

  it('is dispatched anew for another attempt, with the same model or a fallback', async () => {
    const calls: unknown[] = [];
    const fallback = scriptedAgent([['Yes.']], { id: 'other' });
    const provider = scriptedAgent([[{ fails: 'down' }]]);
    const { result } = turnLab({
      ...{ provider, providers: [provider, fallback] },
      retry: {
        maxAttempts: 3,
        fallbacks: [
          { provider: 'scripted', model: 'scripted' },
          { provider: 'other', model: 'other' },
        ],
      },
      contribute: (kernel) =>
        kernel.contribute({
          ...stage,
          handler: ({ payload: { attempt, call, model } }) =>
            void calls.push([attempt, call, model]),
        }),
    });
    expect((await result).assistantTexts).toEqual(['Yes.']);
    expect(calls).toEqual([
      [1, 1, 'scripted'],
      [2, 1, 'scripted'],
      [3, 1, 'other'],
    ]);
  });

  it('ends the turn if it refuses a later call: no attempt follows, and what was written stays', async () => {
    const provider = scriptedAgent([['One.', look, 'Two.']]);
    const { result, written, families } = turnLab({
      provider,
      retry: { maxAttempts: 3, shouldRetry: () => true },
      contribute: (kernel) =>
        kernel.contribute({
          ...stage,
          handler: ({ payload }) => (payload.call === 2 ? cancel('budget-exceeded') : undefined),
        }),
    });
    const { status, error, assistantTexts } = await result;
    expect([status, error?.code, error?.cancel?.code]).toEqual([
      'failed',
      'stage-failed',
      'budget-exceeded',
    ]);
    expect(assistantTexts).toEqual(['One.']);
    expect(written.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult']);
    expect(provider.requests).toHaveLength(1);
    expect(families().filter((family) => family === stage.family)).toHaveLength(2);
  });
});
