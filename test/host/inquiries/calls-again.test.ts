import { expect, it } from 'vitest';
import { type Journal, memoryJournal, memoryStore } from '../../../src/journal/index.js';
import type { ExtensionApi } from '../../../src/sdk/extension/index.js';
import {
  type AgentProvider,
  type AgentRequest,
  MessageWriter,
  type SessionEvent,
  type SessionMessage,
  textOf,
} from '../../../src/sdk/stream/index.js';
import { approvalLab, until } from '../../support/approval-lab.js';

/** The calls of the model: each by the name of its tool. */
type Wish = 'deploy' | 'look';

/** An agent with tools of the host, whose model calls them at once and takes whatever it has called before as done. */
function finalAgent(wishes: readonly Wish[], read: SessionMessage[]): AgentProvider {
  return {
    ...{ id: 'final', models: ['final'], toolGate: 'enforce', ownTools: [] },
    run: (request) => turn(request, wishes, read),
  };
}

async function* turn(
  { begun = [], tools = [], written, prompt, runId, signal }: AgentRequest,
  wishes: readonly Wish[],
  read: SessionMessage[],
): AsyncGenerator<SessionEvent> {
  const writer = new MessageWriter({ provider: 'final', model: 'final' });
  yield { type: 'agent_start' };
  read.push(...begun);
  if (begun.length === 0) {
    const calls = wishes.map((toolName, at) => ({
      ...{ toolCallId: `${runId}-${at}`, toolName, args: { what: prompt } },
    }));
    yield* writer.grow('text', 'So be it.');
    for (const { toolCallId: id, toolName: name, args } of calls)
      yield* writer.call({ id, name, arguments: args });
    yield* writer.end();
    for (const call of calls) yield { type: 'tool_execution_start', ...call };
    for (const { toolCallId, toolName, args } of calls.toReversed()) {
      const tool = tools.find(({ name }) => name === toolName);
      const { content, isError } = (await tool?.call({ toolCallId, args, signal })) ?? {
        content: [],
        isError: true,
      };
      yield { type: 'tool_execution_end', toolCallId, toolName, result: { content }, isError };
    }
    if (signal.aborted) return;
  }
  const results = [...begun, ...written()].filter(({ role }) => role === 'toolResult').map(textOf);
  yield* writer.grow('text', results.join('; '));
  yield* writer.end();
  yield { type: 'agent_end', messages: writer.messages };
}

interface Deploying {
  readonly journal: Journal;
  readonly store: ReturnType<typeof memoryStore>;
  readonly read: SessionMessage[];
  readonly ran: string[];
  readonly wishes?: readonly Wish[];
  /** Runs the tool `deploy`; with nothing it answers at once. */
  readonly deploy?: (signal: AbortSignal) => Promise<string>;
}

/** A host that asks before it deploys, and before nothing else. */
function labOf({ read, ran, wishes = ['deploy'], deploy, ...options }: Deploying) {
  const asksAbout = (api: ExtensionApi): void => {
    for (const name of ['deploy', 'look'] as const)
      api.provide('tool', {
        ...{ name, description: name, inputSchema: { type: 'object', properties: {} } },
        execute: (_, { signal }) => {
          ran.push(name);
          return name === 'deploy' && deploy !== undefined ? deploy(signal) : `${name} is done`;
        },
      });
  };
  return approvalLab({
    ...options,
    isAsked: ({ toolName }) => toolName === 'deploy',
    agents: [{ id: 'main', provider: finalAgent(wishes, read) }],
    setup: asksAbout,
  });
}

const shared = (): Pick<Deploying, 'journal' | 'store' | 'read' | 'ran'> => ({
  ...{ journal: memoryJournal(), store: memoryStore(), read: [], ran: [] },
});

/** A person presses a button; of each host, by another update. */
const press = (lab: Awaited<ReturnType<typeof labOf>>, button = lab.button()): void =>
  void lab.channel.receive({ text: `!${button}` }, `${lab.asked().length}${button}`);

/** The messages that went to a person who waits for an answer. */
const answersOf = (lab: Awaited<ReturnType<typeof labOf>>): readonly string[] =>
  lab.channel.sent.flatMap(({ kind, content }) => (kind === 'approval' ? [] : [content]));

it('a call that was let go and has no result is put to a human again, who is told so, and then made again (judgement §4.21, judgement §4.34)', async () => {
  const all = shared();
  const first = await labOf({ ...all, deploy: () => new Promise(() => undefined) });
  void first.say('v2');
  await until(() => first.asked().length === 1);
  press(first);
  await until(() => all.ran.length === 1);
  await first.kill();
  const next = await labOf(all);
  await until(() => next.asked().length === 1);
  expect(next.asked()[0]?.content).toContain('may have happened already');
  expect(all.ran).toEqual(['deploy']);
  press(next);
  await until(() => next.ends.some(({ status }) => status === 'answered'));
  expect(all.ran).toEqual(['deploy', 'deploy']);
  expect(answersOf(next).at(-1)).toBe('deploy is done');
  expect(all.read.map(({ role }) => role)).toEqual(['assistant', 'toolResult']);
  await next[Symbol.asyncDispose]();
});

it.each([
  ['fails of it, writes no result: a human is asked again', 'fails', ['deploy', 'deploy']],
  ['ends well all the same, writes its result: nothing runs twice', 'ends', ['deploy']],
] as const)('a tool that is stopped and %s (judgement §4.33)', async (_, how, runs) => {
  const all = shared();
  let finish = (): void => undefined;
  const first = await labOf({
    ...all,
    deploy: (signal) =>
      new Promise((resolve, reject) => {
        finish = () => (how === 'ends' ? resolve('deploy is done') : undefined);
        signal.addEventListener('abort', () => reject(new Error('it was stopped')));
      }),
  });
  void first.say('v2');
  await until(() => first.asked().length === 1);
  press(first);
  await until(() => all.ran.length === 1);
  const stopping = first.host.stop({ timeoutMs: 100 });
  if (how === 'ends') finish();
  await first.clock.advance(100);
  await first.clock.advance(5_000);
  await stopping;
  const next = await labOf(all);
  if (how === 'fails') {
    await until(() => next.asked().length === 1);
    press(next);
  }
  const ends = () => [...first.ends, ...next.ends].filter(({ status }) => status === 'answered');
  await until(() => ends().length > 0);
  expect(all.ran).toEqual(runs);
  expect(next.asked().filter(({ interactive }) => interactive)).toHaveLength(runs.length - 1);
  expect([...answersOf(first), ...answersOf(next)]).toContain('deploy is done');
  await next[Symbol.asyncDispose]();
});

it('of several calls only the one that was asked about, and has no result, is made again (judgement §4.34)', async () => {
  const all = { ...shared(), wishes: ['deploy', 'look'] as const };
  const first = await labOf(all);
  void first.say('v2');
  await until(() => first.asked().length === 1);
  expect(all.ran).toEqual(['look']);
  await first.kill();
  const next = await labOf({ ...all, journal: all.journal });
  press(next, first.button());
  await until(() => next.ends.some(({ status }) => status === 'answered'));
  expect(all.ran).toEqual(['look', 'deploy']);
  expect(answersOf(next).at(-1)).toBe('deploy is done; look is done');
  await next[Symbol.asyncDispose]();
});

it('a call that nobody was asked about is not made again: its model reads that no result is known (judgement §4.34)', async () => {
  const all = { ...shared(), wishes: ['look'] as const };
  const first = await labOf(all);
  const hanging = new Promise<never>(() => undefined);
  first.kernel.contribute({
    ...{ extensionId: 'slow', id: 'called', class: 'mutator', family: 'agent.tool.calling' },
    handler: () => hanging,
  });
  void first.say('v2');
  await until(() => first.families().includes('agent.llm.input'));
  await first.kill();
  const next = await labOf(all);
  await until(() => next.ends.some(({ status }) => status === 'answered'));
  expect(all.ran).toEqual([]);
  expect(answersOf(next)).toEqual(['[no result of this call is known: it may have run]']);
  await next[Symbol.asyncDispose]();
});
