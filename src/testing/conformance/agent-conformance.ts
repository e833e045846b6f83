import { isDeepStrictEqual } from 'node:util';
import type { AgentProvider, SessionEvent } from '@sluice/sdk/stream';
import { checkOrdering } from '@sluice/sdk/stream/internal';
import { type RunOptions, type Seen, take } from './agent-run.js';
import { broken, type ConformanceCheck, checksOf, isAbout, must, needs } from './check.js';

/** An agent provider, and prompts that make it do what a check is about. Each check asks for a new one. */
export interface AgentUnderTest extends Partial<AsyncDisposable> {
  readonly provider: AgentProvider;
  /** A prompt that it answers with a text, without a tool. */
  readonly text: string;
  /** A prompt that makes it call a tool; without it the checks of the gate are left out. `false` if it never calls one. */
  readonly tool?: string | false;
  /** How often a tool has run; without it a denied call is judged by its `tool_execution_end` alone. */
  readonly toolRuns?: () => number;
  /** The arguments with which tools have run, in order; without it nobody looks at them. */
  readonly toolArgs?: () => readonly unknown[];
  /** A prompt whose answer does not end before it is stopped; without it the checks of a stop are left out. */
  readonly endless?: string;
  /** A prompt at which its model fails; without it that check is left out. */
  readonly failure?: string;
}

/** The options of `agentConformance`. */
export interface AgentConformanceOptions {
  /** Milliseconds of the real clock that a run may take before it counts as hung; 5 000 by default. */
  readonly timeoutMs?: number;
  /** A check that is left out, because the subject lacks what it needs, is broken. Set it for what you publish. */
  readonly complete?: boolean;
}

/** A subject with the limit of its runs. */
interface Subject extends AgentUnderTest {
  take(prompt: string, options?: RunOptions): Promise<Seen>;
}

/**
 * The rules of an agent provider, as checks for any test runner: the order of its events, exactly one end, the gate before each
 * tool, stops and failures.
 *
 * @param make makes the provider.
 * @example
 * for (const { name, run } of agentConformance(() => ({ provider: parrot, text: 'hello' }))) it(name, run);
 */
export function agentConformance(
  make: () => AgentUnderTest | Promise<AgentUnderTest>,
  { timeoutMs = 5_000, complete = false }: AgentConformanceOptions = {},
): readonly ConformanceCheck[] {
  return checksOf(rules, complete, async (rule) => {
    const made = await make();
    try {
      await rule({ ...made, take: (prompt, how) => take(made.provider, prompt, timeoutMs, how) });
    } finally {
      await made[Symbol.asyncDispose]?.();
    }
  });
}

/** Throws unless a run has begun once, ended once, and kept the order of seed 001. */
function checkWhole({ events, thrown }: Seen): void {
  must(thrown === undefined, `it threw: ${String(thrown)}`);
  const types = events.map(({ type }) => type);
  must(types[0] === 'agent_start', `its first event is ${types[0] ?? 'missing'}, not agent_start`);
  const ends = types.filter((type) => type === 'agent_end').length;
  must(ends === 1, `it has ${ends} agent_end events, and a run has one`);
  must(types.at(-1) === 'agent_end', `its last event is ${types.at(-1)}, after agent_end`);
  const isWhole = (event: SessionEvent): boolean =>
    event.type !== 'message_update' || typeof event.assistantMessageEvent === 'object';
  must(events.every(isWhole), 'a message_update has no assistantMessageEvent');
  const [fault] = checkOrdering(events);
  must(fault === undefined, `its events are out of order: ${fault?.message}`);
}

/** Leaves a check of the gate out if there is no gate, or no prompt for a tool. */
function mustCallTools(
  { toolGate }: AgentProvider,
  tool: string | false | undefined,
): asserts tool is string {
  isAbout(toolGate === 'enforce', 'its tools pass no gate');
  isAbout(tool !== false, 'it calls no tool');
  needs(tool !== undefined, 'tool');
}

const denied = 'not in a test';

const rules: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  'offers a model': async ({ provider }) => must(provider.models.length > 0, 'it offers no model'),

  'answers with one run: agent_start first, agent_end last and once, everything in order': async ({
    take: run,
    text,
  }) => {
    const seen = await run(text);
    checkWhole(seen);
    const says = seen.events.some((event) => event.type === 'message_end');
    must(says, 'it said nothing: there is no message_end');
  },

  'answers two sessions at once, each with a run of its own': async ({ take: run, text }) => {
    for (const seen of await Promise.all([
      run(text, { runId: 'run-a' }),
      run(text, { runId: 'run-b' }),
    ]))
      checkWhole(seen);
  },

  'asks the gate about each tool call before the call ends': async ({
    provider,
    take: run,
    tool,
  }) => {
    mustCallTools(provider, tool);
    const seen = await run(tool);
    checkWhole(seen);
    const ended = seen.events.flatMap((event, at) =>
      event.type === 'tool_execution_end' ? [{ id: event.toolCallId, at }] : [],
    );
    must(ended.length > 0, 'the prompt for a tool has made it call none');
    for (const { id, at } of ended) {
      const times = seen.asked.filter(({ call }) => call.toolCallId === id);
      must(times.length > 0, `tool call ${id} ran, and the gate was not asked`);
      must(times.length === 1, `the gate was asked ${times.length} times about tool call ${id}`);
      must((times[0]?.at ?? 0) <= at, `the gate was asked about tool call ${id} after it had run`);
    }
  },

  'does not run a tool that the gate denies': async ({ provider, take: run, tool, toolRuns }) => {
    mustCallTools(provider, tool);
    const seen = await run(tool, { gate: () => ({ allowed: false, reason: denied }) });
    checkWhole(seen);
    must(seen.asked.length > 0, 'the gate was not asked');
    for (const event of seen.events)
      if (event.type === 'tool_execution_end')
        must(event.isError, `denied tool call ${event.toolCallId} ended without an error`);
    const runs = toolRuns?.() ?? 0;
    must(runs === 0, `a denied tool ran ${runs} times`);
  },

  'runs a tool with the arguments that the gate gives back': async ({
    provider,
    take: run,
    tool,
    toolArgs,
  }) => {
    mustCallTools(provider, tool);
    needs(toolArgs !== undefined, 'toolArgs');
    const given: unknown[] = [];
    const seen = await run(tool, {
      gate: ({ args }) => {
        const patched = { ...args, patched: true };
        given.push(patched);
        return { allowed: true, args: patched };
      },
    });
    checkWhole(seen);
    const ran = toolArgs();
    must(ran.length > 0, 'the prompt for a tool has made none run');
    for (const [at, args] of ran.entries())
      must(
        isDeepStrictEqual(args, given[at]),
        `a tool ran with ${JSON.stringify(args)}, and the gate had given back ${JSON.stringify(given[at])}`,
      );
  },

  'makes a call again that a person was asked about before a stop, as it was': async ({
    provider,
    take: run,
    tool,
  }) => {
    mustCallTools(provider, tool);
    const { call } = (await run(tool)).asked[0] ?? broken('the gate was not asked');
    const { toolCallId, toolName, args } = call;
    const work = { begun: [], callsAgain: [{ toolCallId, toolName, args }] };
    const seen = await run(tool, { runId: 'run-2', ...work });
    checkWhole(seen);
    const [again] = seen.asked;
    must(again !== undefined, 'it was to make a call again, and the gate was not asked');
    const isSame = again.call.toolName === toolName && isDeepStrictEqual(again.call.args, args);
    must(isSame, `its first call was another one: ${again.call.toolName}`);
  },

  'ends soon when its turn is stopped': async ({ take: run, endless }) => {
    needs(endless !== undefined, 'endless');
    const { events } = await run(endless, { stop: 'abort' });
    const ends = events.filter(({ type }) => type === 'agent_end').length;
    must(ends <= 1, `it has ${ends} agent_end events`);
  },

  'lets go when its reader leaves': async ({ take: run, endless }) => {
    needs(endless !== undefined, 'endless');
    const { thrown } = await run(endless, { stop: 'return' });
    must(thrown === undefined, `return() of its iterator threw: ${String(thrown)}`);
  },

  'ends with its failure, once: it throws, or its last message says so': async ({
    take: run,
    failure,
  }) => {
    needs(failure !== undefined, 'failure');
    const { events, thrown } = await run(failure);
    const ends = events.filter(({ type }) => type === 'agent_end').length;
    if (thrown !== undefined) {
      must(ends === 0, 'it ended with agent_end, and threw after that');
      return;
    }
    must(ends === 1, `it has ${ends} agent_end events, and threw nothing`);
    const last = events.findLast((event) => event.type === 'message_end');
    const isTold = last?.message.role === 'assistant' && last.message.stopReason === 'error';
    must(isTold, 'its model failed, and the run ended as if all were well');
  },
};
