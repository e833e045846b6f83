import { describe, expect, it } from 'vitest';
import {
  type ClaudeQueryOptions,
  claudeProvider,
  replayProvider,
} from '../../src/claude/agent/index.js';
import type { CsdkFrame } from '../../src/claude/index.js';
import { cancel, type FamilyName, type Kernel } from '../../src/kernel/internal.js';
import { loadLegacyPlugin } from '../../src/openclaw/index.js';
import type { AgentProvider } from '../../src/sdk/stream/index.js';
import { frames } from '../support/bridge-lab.js';
import { recordings } from '../support/recordings.js';
import { type TurnLab, turnLab } from '../support/turn-lab.js';

const { init, text, call, answer, result, system } = frames;
const at = { extensionId: 'test', id: 'probe' } as const;
const look = { description: 'look', subagent_type: 'explore', prompt: 'Look around.' };
const inside = { parent_tool_use_id: 'p', agent_id: 'a-1' };
const started = (fields = {}) =>
  system('task_started', {
    task_id: 'a-1',
    tool_use_id: 'p',
    task_type: 'local_agent',
    subagent_type: 'explore',
    ...fields,
  });

/** The question of the SDK before a tool runs. */
type Ask = (id: string, name: string, input: object, agent?: string) => Promise<unknown>;
/** Its hook that tells that a subagent starts: by its run, and not by the call that started it. */
type Start = (agent: string, type: string) => Promise<unknown>;
type Script = (ask: Ask, start: Start) => AsyncIterable<CsdkFrame>;

/** The claude provider, with a query that follows a script. */
function claude(script: Script): AgentProvider {
  const asking = ({ hooks }: ClaudeQueryOptions): Ask => {
    const hook = hooks.PreToolUse[0]?.hooks[0];
    return async (id, name, input, agent) =>
      hook?.(
        {
          hook_event_name: 'PreToolUse',
          tool_name: name,
          tool_input: input,
          tool_use_id: id,
          ...(agent !== undefined && { agent_id: agent }),
        },
        id,
        { signal: new AbortController().signal },
      );
  };
  const starting = ({ hooks }: ClaudeQueryOptions): Start => {
    const hook = hooks.SubagentStart[0]?.hooks[0];
    return async (agent, type) => {
      const input = { hook_event_name: 'SubagentStart', agent_id: agent, agent_type: type };
      return hook?.(input, undefined, { signal: new AbortController().signal });
    };
  };
  return claudeProvider({
    query: ({ options }) => {
      async function* run(): AsyncGenerator<CsdkFrame, void> {
        yield* script(asking(options), starting(options));
      }
      return Object.assign(run(), { close: () => undefined });
    },
  });
}

/** A subagent that the main thread waits for, and that reads a file. */
const foreground: Script = async function* (ask) {
  yield init();
  yield call('p', 'Agent', look);
  const denied = await ask('p', 'Agent', look);
  if (JSON.stringify(denied).includes('"deny"')) {
    yield answer('p', 'Not here.', {}, true);
  } else {
    yield started();
    yield call('c', 'Read', { path: 'x' }, inside);
    await ask('c', 'Read', { path: 'x' }, 'a-1');
    yield answer('c', 'a text', inside);
    yield system('task_notification', { task_id: 'a-1', status: 'completed' });
    yield answer('p', 'Saw it.');
  }
  yield text('m2', 'Done.');
  yield result();
};

/** A subagent that goes on when its call has answered, as SDK 0.3.330 starts them unless told otherwise. */
const background: Script = async function* (ask) {
  yield init();
  yield call('p', 'Agent', look);
  await ask('p', 'Agent', look);
  yield system('background_tasks_changed', { tasks: [{ task_id: 'a-1' }] });
  yield started({ is_backgrounded: true });
  yield answer('p', 'Launched.', {
    tool_use_result: { status: 'async_launched', agentId: 'a-1' },
  });
  yield text('m2', 'It is at work.');
  yield result();
  yield call('c', 'Read', { path: 'x' }, inside);
  await ask('c', 'Read', { path: 'x' }, 'a-1');
  yield answer('c', 'a text', inside);
  yield system('task_notification', { task_id: 'a-1', status: 'completed' });
  yield system('background_tasks_changed', { tasks: [] });
  yield init();
  yield text('m3', 'It has read x.');
  yield result();
};

const ofTools: readonly FamilyName[] = ['agent.tool.calling', 'agent.tool.called'];
const ofChildren: readonly FamilyName[] = [
  'subagent.spawning',
  'subagent.spawned',
  'subagent.completed',
];

/** The facts that were told of tools and subagents: the family, and the tool that it is about. */
function storyOf({ outcomes }: TurnLab): string[] {
  return outcomes.flatMap(({ event: { family }, payload }) => {
    if (ofChildren.includes(family)) return [family];
    return ofTools.includes(family) ? [`${family} ${Object(payload).toolName}`] : [];
  });
}

function refusing(family: 'agent.tool.calling' | 'subagent.spawning') {
  return (kernel: Kernel) =>
    kernel.contribute({
      ...at,
      family,
      class: 'veto',
      handler: () => cancel('policy', { text: 'Nobody delegates here.' }),
    });
}

describe('the subagents of a turn', () => {
  it('have each allowed tool call told before and after it runs (§16.3, §16.11)', async () => {
    const lab = turnLab({ provider: claude(foreground) });
    expect((await lab.result).status).toBe('completed');
    expect(storyOf(lab)).toEqual([
      'agent.tool.calling Agent',
      'subagent.spawning',
      'subagent.spawned',
      'agent.tool.calling Read',
      'agent.tool.called Read',
      'subagent.completed',
      'agent.tool.called Agent',
    ]);
    const reads = lab.outcomes.filter(({ payload }) => Object(payload).toolCallId === 'c');
    expect(reads.map(({ event }) => Object(event.metadata).subagentId)).toEqual(['a-1', 'a-1']);
    expect(Object(reads[1]?.payload)).toMatchObject({ result: 'a text', isError: false });
    expect(lab.written.filter(({ toolCallId }) => toolCallId === 'c')).toEqual([]);
  });

  it('are told also in the background, after the message was answered (§16.11)', async () => {
    const lab = turnLab({ provider: claude(background) });
    expect((await lab.result).assistantTexts).toEqual(['It is at work.', 'It has read x.']);
    expect(storyOf(lab)).toEqual([
      'agent.tool.calling Agent',
      'subagent.spawning',
      'subagent.spawned',
      'agent.tool.calling Read',
      'agent.tool.called Read',
      'subagent.completed',
      'agent.tool.called Agent', // its call shows what it does until it ends (csdk §4)
    ]);
    const ended = lab.outcomes.find(({ event }) => event.family === 'subagent.completed');
    expect(ended?.payload).toMatchObject({
      runId: 'a-1',
      targetSessionKey: 'k:subagent:p',
      reason: 'completed',
    });
  });

  it('are refused by a veto of subagent.spawning, whose text the model is told (§16.12)', async () => {
    const answers: unknown[] = [];
    const script: Script = (ask, start) =>
      foreground(async (...asked) => {
        const said = await ask(...asked);
        answers.push(said);
        return said;
      }, start);
    const lab = turnLab({
      provider: claude(script),
      contribute: refusing('subagent.spawning'),
    });
    expect((await lab.result).status).toBe('completed');
    expect(answers).toEqual([
      {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'Nobody delegates here.',
        },
      },
    ]);
    expect(storyOf(lab)).toEqual([
      'agent.tool.calling Agent',
      'subagent.spawning',
      'agent.tool.called Agent',
    ]);
    const told = lab.outcomes.find(({ event }) => event.family === 'agent.tool.called');
    expect(told?.payload).toMatchObject({ isError: true, error: 'Nobody delegates here.' });
  });

  it('are refused also if another subagent starts before they are asked about (§16.12)', async () => {
    const lab = turnLab({
      provider: claude(async function* (ask, start) {
        yield init();
        yield call('p', 'Agent', look);
        await start('x-9', 'explore'); // of a skill, say, which no call of the model started
        yield system('status'); // time for it to be told
        yield system('status');
        yield* foreground(ask, start);
      }),
      contribute: refusing('subagent.spawning'),
    });
    expect((await lab.result).status).toBe('completed');
    const told = lab.outcomes.find(({ event }) => event.family === 'agent.tool.called');
    expect(told?.payload).toMatchObject({ isError: true, error: 'Nobody delegates here.' });
    expect(storyOf(lab)).not.toContain('subagent.spawned');
  });

  it('reach the legacy hooks of subagents, whose error refuses one (§16.12)', async () => {
    const heard: string[] = [];
    const plugin =
      (answer?: object) => (api: { on(hook: string, handler: () => unknown): void }) => {
        for (const hook of ['subagent_spawning', 'subagent_spawned', 'subagent_ended'])
          api.on(hook, () => {
            heard.push(hook);
            return hook === 'subagent_spawning' ? answer : undefined;
          });
      };
    const turn = (answer?: object) =>
      turnLab({
        provider: claude(foreground),
        contribute: (kernel) =>
          loadLegacyPlugin(plugin(answer), { kernel, pluginId: 'acme', config: {} }),
      });
    await turn().result;
    expect(heard.splice(0)).toEqual(['subagent_spawning', 'subagent_spawned', 'subagent_ended']);
    const lab = turn({ status: 'error', error: 'no room' });
    await lab.result;
    expect(heard).toEqual(['subagent_spawning']);
    const told = lab.outcomes.find(({ event }) => event.family === 'agent.tool.called');
    expect(told?.payload).toMatchObject({ isError: true, error: 'no room' });
  });

  it('are not asked about where the call itself is refused (§16.12)', async () => {
    const lab = turnLab({
      provider: claude(foreground),
      contribute: refusing('agent.tool.calling'),
    });
    await lab.result;
    expect(storyOf(lab)).toEqual(['agent.tool.calling Agent', 'agent.tool.called Agent']);
  });

  it('are asked about with the arguments that the call will run with (§16.12)', async () => {
    const lab = turnLab({
      provider: claude(foreground),
      contribute: (kernel) =>
        kernel.contribute({
          ...at,
          family: 'agent.tool.calling',
          class: 'mutator',
          handler: ({ payload }) =>
            payload.toolName === 'Agent'
              ? { params: { ...payload.params, subagent_type: 'careful' } }
              : {},
        }),
    });
    await lab.result;
    const asked = lab.outcomes.find(({ event }) => event.family === 'subagent.spawning');
    expect(asked?.payload).toMatchObject({ agentId: 'careful' });
  });

  it('end with the turn where it is stopped before them (§16.11)', async () => {
    const stop = new AbortController();
    const script: Script = async function* (ask) {
      yield init();
      yield call('p', 'Agent', look);
      await ask('p', 'Agent', look);
      yield started();
      stop.abort();
      yield text('m2', 'Too late.');
    };
    const lab = turnLab({ provider: claude(script), signal: stop.signal });
    expect((await lab.result).status).toBe('aborted');
    expect(storyOf(lab).filter((family) => family.startsWith('subagent.'))).toEqual(ofChildren);
    const families = lab.families();
    expect(families.indexOf('subagent.completed')).toBeLessThan(
      families.indexOf('agent.completed'),
    );
    const ended = lab.outcomes.find(({ event }) => event.family === 'subagent.completed');
    expect(ended?.payload).toMatchObject({ outcome: 'killed' });
  });

  it('of a recording are told once each, with their tools, and can only be observed (§16.11)', async () => {
    const recording = recordings().find(({ name }) => name === 'subagent.jsonl');
    const lab = turnLab({
      provider: replayProvider((recording?.lines ?? []).map((line) => JSON.parse(line))),
      contribute: refusing('subagent.spawning'),
    });
    await lab.result;
    const story = storyOf(lab);
    expect(story.filter((family) => family.startsWith('subagent.'))).toEqual(ofChildren);
    expect(story.filter((family) => family.startsWith('agent.tool.calling'))).toHaveLength(2);
    expect(story.filter((family) => family.startsWith('agent.tool.called'))).toHaveLength(2);
    const spawning = lab.outcomes.find(({ event }) => event.family === 'subagent.spawning');
    expect(spawning?.failures).not.toEqual([]);
  });
});
