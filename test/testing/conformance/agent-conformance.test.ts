import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { replayProvider } from '../../../src/claude/agent/index.js';
import type { AgentProvider, SessionEvent } from '../../../src/sdk/stream/index.js';
import {
  type AgentUnderTest,
  agentConformance,
  scriptedAgent,
} from '../../../src/testing/index.js';
import { frames } from '../../support/bridge-lab.js';

const never = new Promise<never>(() => undefined);

function scripted(): AgentUnderTest {
  const ranWith: unknown[] = [];
  const work = {
    tool: 'work',
    args: { path: '/' },
    result: (args: unknown) => `run ${ranWith.push(args)}`,
  };
  const turns = {
    text: ['hello'],
    tool: ['Let me see.', work, work, 'Done.'],
    endless: ['So it begins.', { until: () => never }],
    failure: [{ fails: 'overloaded' }],
  };
  const provider: AgentProvider = {
    ...scriptedAgent([]),
    run: (request) => scriptedAgent([turns[request.prompt as keyof typeof turns]]).run(request),
  };
  const prompts = { text: 'text', tool: 'tool', endless: 'endless', failure: 'failure' };
  return { provider, ...prompts, toolRuns: () => ranWith.length, toolArgs: () => ranWith };
}

describe.each([
  ['the echo agent', () => ({ provider: echoProvider(), text: 'hello', tool: 'hello' })],
  [
    'the agent that replays a recording',
    () => ({
      provider: replayProvider([frames.init(), frames.text('m-1', 'So.'), frames.result()]),
      text: 'hello',
    }),
  ],
  ['the scripted agent of the kit', scripted],
])('%s', (_, make) => {
  for (const { name, run } of agentConformance(make)) it(name, run);
});

it('an agent that says nothing until it is stopped keeps the rules of a stop', async () => {
  const silent = (): AgentUnderTest => ({
    provider: scriptedAgent([[{ until: () => never }]]),
    text: 'hello',
    endless: 'hello',
  });
  const rules = ['ends soon when its turn is stopped', 'lets go when its reader leaves'];
  expect(await brokenRules(silent, rules)).toEqual({});
});

/** Those of some rules that a subject breaks, each with how. Only one that hangs takes the time to its end. */
async function brokenRules(
  make: () => AgentUnderTest,
  rules: readonly string[],
): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  const checks = agentConformance(make, { timeoutMs: 4_000 });
  const wanted = checks.filter(({ name }) => rules.includes(name));
  expect(wanted).toHaveLength(rules.length);
  const runs = wanted.map(({ name, run }) =>
    run().catch((error: Error) => {
      said[name] = error.message;
    }),
  );
  await Promise.all(runs);
  return said;
}

/** The scripted agent, with its events changed on their way. */
function changed(
  change: (events: AsyncIterable<SessionEvent>) => AsyncIterable<SessionEvent>,
): () => AgentUnderTest {
  return () => {
    const subject = scripted();
    const { provider } = subject;
    return {
      ...subject,
      provider: { ...provider, run: (request) => change(provider.run(request)) },
    };
  };
}

/** The scripted agent, with its requests changed. */
function asked(change: Parameters<typeof withGate>[1]): () => AgentUnderTest {
  return () => {
    const subject = scripted();
    return { ...subject, provider: withGate(subject.provider, change) };
  };
}

function withGate(
  provider: AgentProvider,
  change: (request: Parameters<AgentProvider['run']>[0]) => Parameters<AgentProvider['run']>[0],
): AgentProvider {
  return { ...provider, run: (request) => provider.run(change(request)) };
}

describe('an agent that is wrong fails, for its own reason', () => {
  const order =
    'answers with one run: agent_start first, agent_end last and once, everything in order';
  it.each<[string, () => AgentUnderTest, string, RegExp]>([
    [
      'that never ends its run',
      changed(async function* (events) {
        for await (const event of events) if (event.type !== 'agent_end') yield event;
      }),
      order,
      /it has 0 agent_end events/,
    ],
    [
      'that ends its run twice',
      changed(async function* (events) {
        for await (const event of events) {
          yield event;
          if (event.type === 'agent_end') yield event;
        }
      }),
      order,
      /it has 2 agent_end events/,
    ],
    [
      'that ends a message that it did not begin',
      changed(async function* (events) {
        for await (const event of events) if (event.type !== 'message_start') yield event;
      }),
      order,
      /its events are out of order/,
    ],
    [
      'that says that a message grew, and not how',
      changed(async function* (events) {
        for await (const event of events) {
          yield event;
          // as a provider in JavaScript may: the field is missing
          if (event.type === 'message_start') yield { ...event, type: 'message_update' } as never;
        }
      }),
      order,
      /a message_update has no assistantMessageEvent/,
    ],
    [
      'that takes what a person was asked about as done',
      asked((request) =>
        request.callsAgain === undefined ? request : { ...request, prompt: 'text' },
      ),
      'makes a call again that a person was asked about before a stop, as it was',
      /it was to make a call again, and the gate was not asked/,
    ],
    [
      'that makes another call than the one that a person was asked about',
      asked((request) => {
        if (request.callsAgain === undefined) return request;
        return { ...request, gate: (call) => request.gate({ ...call, args: { path: '/etc' } }) };
      }),
      'makes a call again that a person was asked about before a stop, as it was',
      /its first call was another one: work/,
    ],
    [
      'that runs its tools without asking',
      asked((request) => ({ ...request, gate: async ({ args }) => ({ allowed: true, args }) })),
      'asks the gate about each tool call before the call ends',
      /ran, and the gate was not asked/,
    ],
    [
      'that runs a tool that was denied',
      asked((request) => ({
        ...request,
        gate: async (call, signal) => {
          await request.gate(call, signal);
          return { allowed: true, args: call.args };
        },
      })),
      'does not run a tool that the gate denies',
      /denied tool call .* ended without an error/,
    ],
    [
      'that runs its tools with the arguments of the model, and not with those of the gate',
      asked((request) => ({
        ...request,
        gate: async (call, signal) => {
          const decision = await request.gate(call, signal);
          return decision.allowed ? { allowed: true, args: call.args } : decision;
        },
      })),
      'runs a tool with the arguments that the gate gives back',
      /ran with \{"path":"\/"\}, and the gate had given back \{"path":"\/","patched":true\}/,
    ],
    [
      'that does not hear that it is stopped',
      asked((request) => ({ ...request, signal: new AbortController().signal })),
      'ends soon when its turn is stopped',
      /a run of "endless" did not settle within \d+ ms/,
    ],
    [
      'that hides its failures',
      changed(async function* (events) {
        try {
          yield* events;
        } catch {
          yield { type: 'agent_end', messages: [] };
        }
      }),
      'ends with its failure, once: it throws, or its last message says so',
      /ended as if all were well/,
    ],
  ])('%s', async (_, make, rule, how) => {
    expect((await brokenRules(make, [rule]))[rule]).toMatch(how);
  });
});
