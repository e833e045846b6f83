import { describe, expect, it } from 'vitest';
import type { CsdkFrame } from '../../src/claude/index.js';
import { cancel, type FamilyName, type Kernel } from '../../src/kernel/internal.js';
import { bridged, bridgedSession, frames, type Script } from '../support/bridge-lab.js';
import { recordings } from '../support/recordings.js';

const { init, text, call, answer, result, system } = frames;
const at = { extensionId: 'test', id: 'probe' } as const;
const watch = { gate: 'observe-only' } as const;
const look = { description: 'look', subagent_type: 'explore', prompt: 'Look around.' };
const inside = (lane: string, agent: string) => ({ parent_tool_use_id: lane, agent_id: agent });
const childKey = 'agent:main:subagent:p';

const started = (id: string, task: string, fields = {}) =>
  system('task_started', {
    task_id: task,
    tool_use_id: id,
    task_type: 'local_agent',
    subagent_type: 'explore',
    ...fields,
  });
const notified = (task: string, status: string, fields = {}) =>
  system('task_notification', { task_id: task, status, ...fields });
const updated = (task: string, patch: object) => system('task_updated', { task_id: task, patch });

const children: readonly FamilyName[] = [
  'subagent.spawning',
  'subagent.spawned',
  'subagent.completed',
];

/** How each child of a run went, by the families that tell it. */
async function storyOf(script: Script | readonly CsdkFrame[], options = {}) {
  const lab = await bridged(script, options);
  const story = lab.families().filter((family) => children.includes(family));
  return { ...lab, story };
}

/** A foreground subagent, told by everything that can tell of it. */
const foreground = [
  init(),
  call('p', 'Task', look),
  started('p', 'a-1'),
  call('c', 'Read', { path: 'x' }, inside('p', 'a-1')),
  answer('c', 'text', inside('p', 'a-1')),
  updated('a-1', { status: 'completed' }),
  notified('a-1', 'completed', { summary: 'Saw it.' }),
  answer('p', 'Saw it.'),
  text('m2', 'It saw it.'),
  result(),
];

describe('the subagents of a bridged run', () => {
  it('are each told once: asked for, running, ended, however many frames say so (§18.6)', async () => {
    const { story, of } = await storyOf(foreground, watch);
    expect(story).toEqual(children);
    const spawn = {
      childSessionKey: childKey,
      requesterSessionKey: 'agent:main',
      agentId: 'explore',
      label: 'look',
      spawnMode: 'run',
      threadRequested: false,
    };
    expect(of('subagent.spawning')[0]?.payload).toEqual(spawn);
    expect(of('subagent.spawned')[0]?.payload).toEqual({ ...spawn, runId: 'a-1' });
    expect(of('subagent.completed')[0]?.payload).toMatchObject({
      runId: 'a-1',
      targetSessionKey: childKey,
      targetKind: 'subagent',
      requesterSessionKey: 'agent:main',
      reason: 'completed',
      outcome: 'ok',
    });
  });

  it('stand between the call that starts them and its result (§18.6)', async () => {
    const { families } = await storyOf(foreground, watch);
    const relevant = families().filter(
      (family) => children.includes(family) || family.startsWith('agent.tool.'),
    );
    expect(relevant).toEqual([
      'agent.tool.calling', // Task
      'subagent.spawning',
      'subagent.spawned',
      'agent.tool.calling', // Read
      'agent.tool.called',
      'subagent.completed',
      'agent.tool.called', // Task
    ]);
  });

  it('name their session, run and correlation in the envelope', async () => {
    const { outcomes } = await storyOf(foreground, watch);
    for (const { event } of outcomes.filter(({ event }) => children.includes(event.family)))
      expect(event).toMatchObject({
        sessionId: bridgedSession.sessionId,
        correlationId: outcomes[0]?.event.eventId,
        metadata: { runId: 'r-1' },
      });
  });

  it('have their tool calls told as theirs, once each, and no transcript of ours (§18.6)', async () => {
    const twice = [...foreground.slice(0, 5), ...foreground.slice(3)];
    const { of, written } = await storyOf(twice, watch);
    const reads = [...of('agent.tool.calling'), ...of('agent.tool.called')].filter(
      ({ payload }) => payload.toolCallId === 'c',
    );
    expect(reads).toHaveLength(2);
    for (const { event } of reads)
      expect(event.metadata).toEqual({ runId: 'r-1', subagentId: 'a-1' });
    expect(written.filter(({ toolCallId }) => toolCallId === 'c')).toEqual([]);
    expect(written.some(({ toolCallId }) => toolCallId === 'p')).toBe(true);
    const results = of('transcript.tool-result.persisting').map(
      ({ payload }) => payload.toolCallId,
    );
    expect(results).toEqual(['p']);
  });

  it.each([
    ['failed', { reason: 'failed', outcome: 'error', error: 'out of turns' }],
    ['killed', { reason: 'killed', outcome: 'killed' }],
    ['stopped', { reason: 'stopped', outcome: 'killed' }],
  ])('that end %s say so', async (status, expected) => {
    const { of } = await storyOf(
      [
        init(),
        call('p', 'Agent', look),
        started('p', 'a-1'),
        notified('a-1', status, { summary: 'out of turns' }),
        answer('p', 'It did not work.', {}, true),
        result(),
      ],
      watch,
    );
    const told = of('subagent.completed').map(({ payload: { reason, outcome, error } }) => ({
      ...{ reason, outcome },
      ...(error !== undefined && { error }),
    }));
    expect(told).toEqual([expected]);
  });

  it('are told by their call alone where no task frame comes', async () => {
    const { story, of } = await storyOf(
      [init(), call('p', 'Task', look), answer('p', 'Saw it.'), result()],
      watch,
    );
    expect(story).toEqual(children);
    expect(of('subagent.spawned')[0]?.payload.runId).toBe('p');
  });

  it('that never ran have neither begun nor ended', async () => {
    const { story } = await storyOf(
      [init(), call('p', 'Task', look), answer('p', 'no such agent', {}, true), result()],
      watch,
    );
    expect(story).toEqual(['subagent.spawning']);
  });

  it.each([
    ['its call', { ...look, run_in_background: true }, {}, {}, ['call', 'subagent']],
    ['its task', look, { is_backgrounded: true }, {}, ['call', 'subagent']],
    // the call goes on until its subagent ends (csdk §4.10)
    [
      'its answer',
      look,
      {},
      { tool_use_result: { status: 'async_launched' } },
      ['subagent', 'call'],
    ],
  ])(
    'that %s says to be in the background end when they end, not when their call answers (§18.6)',
    async (_, args, task, answered, expected) => {
      const { families } = await storyOf(
        [
          init(),
          call('p', 'Task', args),
          started('p', 'a-1', task),
          answer('p', 'launched', answered),
          text('m2', 'It runs.'),
          notified('a-1', 'completed'),
          text('m3', 'It is back.'),
          result(),
        ],
        watch,
      );
      const order = families().filter(
        (family) => family === 'subagent.completed' || family === 'agent.tool.called',
      );
      const who = { 'agent.tool.called': 'call', 'subagent.completed': 'subagent' };
      expect(order.map((family) => who[family as keyof typeof who])).toEqual(expected);
    },
  );

  it('that are the first that is seen of a run come after what the run was asked (§18.2)', async () => {
    const { families } = await storyOf([init(), started('p', 'a-1'), result()], watch);
    expect(families().slice(0, 4)).toEqual([
      'agent.starting',
      'agent.llm.input',
      'transcript.message.writing',
      'subagent.spawning',
    ]);
  });

  it('that still run when the run ends are told as gone, before it is told as completed', async () => {
    const { of, families } = await storyOf(
      [
        init(),
        call('p', 'Task', look),
        started('p', 'a-1', { is_backgrounded: true }),
        answer('p', 'launched'),
        result(),
      ],
      watch,
    );
    expect(of('subagent.completed')).toMatchObject([
      { payload: { reason: 'run-ended', outcome: 'killed' } },
    ]);
    expect(families().indexOf('subagent.completed')).toBeLessThan(
      families().indexOf('agent.completed'),
    );
  });

  it('of one another have the one that asked as their requester', async () => {
    const { of } = await storyOf(
      [
        init(),
        call('p', 'Task', look),
        started('p', 'a-1'),
        call('q', 'Task', look, inside('p', 'a-1')),
        started('q', 'a-2', { parent_task_id: 'a-1' }),
        notified('a-2', 'completed'),
        answer('q', 'Deeper.', inside('p', 'a-1')),
        notified('a-1', 'completed'),
        answer('p', 'Saw it.'),
        result(),
      ],
      watch,
    );
    expect(of('subagent.spawned').map(({ payload }) => payload.requesterSessionKey)).toEqual([
      'agent:main',
      childKey,
    ]);
    expect(of('subagent.completed').map(({ payload }) => payload.runId)).toEqual(['a-2', 'a-1']);
  });

  it('are no commands in the background', async () => {
    const { story } = await storyOf(
      [
        init(),
        call('b', 'Bash', { command: 'make' }),
        system('task_started', { task_id: 'b-1', tool_use_id: 'b', task_type: 'local_bash' }),
        notified('b-1', 'completed'),
        answer('b', 'ok'),
        result(),
      ],
      watch,
    );
    expect(story).toEqual([]);
  });

  it('of the real recording are told once', async () => {
    const recording = recordings().find(({ name }) => name === 'subagent.jsonl');
    const lines = recording?.lines.map((line) => JSON.parse(line) as CsdkFrame) ?? []; // recorded frames
    const { story, of } = await storyOf(lines, watch);
    expect(story).toEqual(children);
    expect(of('subagent.completed')[0]?.payload).toMatchObject({
      runId: 'a50d7d17c19e81fdd',
      outcome: 'ok',
    });
    expect(of('agent.tool.called').map(({ payload }) => payload.toolName)).toEqual([
      'Read',
      'Task',
    ]);
  });
});

describe('the subagents of a live run', () => {
  const refuses = (kernel: Kernel) =>
    kernel.contribute({
      ...at,
      family: 'subagent.spawning',
      class: 'veto',
      handler: () => cancel('limit-reached', { text: 'two are enough' }),
    });

  it('are refused by a veto of subagent.spawning, with its reason (§18.6)', async () => {
    const answers: unknown[] = [];
    const { story, of } = await storyOf(
      async function* ({ pre }) {
        yield init();
        yield call('p', 'Task', look);
        answers.push(await pre('p', 'Task', look));
        yield answer('p', 'two are enough', {}, true);
        yield result();
      },
      { contribute: refuses },
    );
    expect(JSON.stringify(answers)).toMatch(/"deny".*two are enough/);
    expect(story).toEqual(['subagent.spawning']);
    expect(of('agent.tool.called')).toMatchObject([
      { payload: { toolCallId: 'p', isError: true, error: 'two are enough' } },
    ]);
  });

  it('are what a mutator made of their call', async () => {
    const { of } = await storyOf(
      async function* ({ pre }) {
        yield init();
        yield call('p', 'Task', look);
        await pre('p', 'Task', look);
        yield started('p', 'a-1', { subagent_type: 'plan' });
        yield answer('p', 'Planned.');
        yield result();
      },
      {
        contribute: (kernel: Kernel) =>
          kernel.contribute({
            ...at,
            family: 'agent.tool.calling',
            class: 'mutator',
            handler: () => ({ params: { subagent_type: 'plan' } }),
          }),
      },
    );
    expect(of('subagent.spawning')).toMatchObject([
      { payload: { agentId: 'plan', label: 'look' } },
    ]);
  });

  it('and their calls have the principal of the run, which its bridge was given (judgement §1.7, judgement §1.10)', async () => {
    const principal = {
      channel: 'web',
      accountId: 'a',
      senderId: 'ada',
      isOwner: false,
      roles: [],
    };
    const { of } = await storyOf(foreground, { ...watch, refs: { principal } });
    const calls = of('agent.tool.calling');
    expect(calls).toHaveLength(2); // of the run, and of its subagent
    for (const outcome of [...calls, ...of('subagent.spawning')])
      expect(outcome.principal).toEqual(principal);
    const { of: unproven } = await storyOf(foreground, watch);
    expect(unproven('subagent.spawning')[0]?.principal).toBeUndefined();
  });

  it('of one another have the one that asked as their requester, also before a frame shows it', async () => {
    const { of } = await storyOf(async function* ({ pre }) {
      yield init();
      yield call('p', 'Task', look);
      await pre('p', 'Task', look);
      yield started('p', 'a-1');
      yield text('m1', 'Meanwhile.'); // the frame before has been read by now
      await pre('q', 'Task', look, { agent_id: 'a-1' });
      yield call('q', 'Task', look, inside('p', 'a-1'));
      yield answer('q', 'Deeper.', inside('p', 'a-1'));
      yield answer('p', 'Saw it.');
      yield result();
    });
    expect(of('subagent.spawning').map(({ payload }) => payload.requesterSessionKey)).toEqual([
      'agent:main',
      childKey,
    ]);
  });

  it('are told once where hooks and frames both announce them (§18.1)', async () => {
    const { story, of } = await storyOf(async function* ({ pre, hook }) {
      yield init();
      await pre('p', 'Task', look);
      yield call('p', 'Task', look);
      await hook('SubagentStart', { agent_id: 'a-1', agent_type: 'explore' });
      yield started('p', 'a-1');
      await hook('SubagentStop', { agent_id: 'a-1', agent_type: 'explore' });
      yield updated('a-1', { status: 'completed' });
      yield notified('a-1', 'completed');
      yield answer('p', 'Saw it.');
      yield result();
    });
    expect(story).toEqual(children);
    expect(of('subagent.spawned')[0]?.payload.runId).toBe('a-1');
  });

  it('that run side by side wait for the frame that says which is which', async () => {
    const { of } = await storyOf(async function* ({ hook }) {
      yield init();
      yield call('p', 'Task', look);
      yield call('q', 'Task', { ...look, description: 'other' });
      await hook('SubagentStart', { agent_id: 'a-2', agent_type: 'explore' });
      yield started('q', 'a-2');
      yield started('p', 'a-1');
      yield answer('q', 'one');
      yield answer('p', 'two');
      yield result();
    });
    expect(of('subagent.spawned').map(({ payload }) => [payload.label, payload.runId])).toEqual([
      ['other', 'a-2'],
      ['look', 'a-1'],
    ]);
  });

  it('that were refused are not taken for one that runs', async () => {
    const { of } = await storyOf(
      async function* ({ pre, hook }) {
        yield init();
        yield call('p', 'Task', { ...look, description: 'no' });
        await pre('p', 'Task', { ...look, description: 'no' });
        yield call('q', 'Task', look);
        await pre('q', 'Task', look);
        await hook('SubagentStart', { agent_id: 'a-1', agent_type: 'explore' });
        yield answer('p', 'refused', {}, true);
        yield answer('q', 'Saw it.');
        yield result();
      },
      {
        contribute: (kernel: Kernel) =>
          kernel.contribute({
            ...at,
            family: 'subagent.spawning',
            class: 'veto',
            handler: ({ payload }) => (payload.label === 'no' ? cancel('policy') : null),
          }),
      },
    );
    expect(of('subagent.spawned').map(({ payload }) => [payload.label, payload.runId])).toEqual([
      ['look', 'a-1'],
    ]);
  });

  it('whose hook said that they stopped are told as gone well, where nothing else says how', async () => {
    const { of } = await storyOf(async function* ({ hook }) {
      yield init();
      yield call('p', 'Task', { ...look, run_in_background: true });
      yield started('p', 'a-1');
      yield answer('p', 'launched');
      await hook('SubagentStop', { agent_id: 'a-1' });
      yield result();
    });
    expect(of('subagent.completed')).toMatchObject([
      { payload: { reason: 'run-ended', outcome: 'ok' } },
    ]);
  });

  it('have their tool calls gated, too, before any frame shows them (§18.6)', async () => {
    const answers: unknown[] = [];
    const { of } = await storyOf(
      async function* ({ pre }) {
        yield init();
        yield call('p', 'Task', look);
        await pre('p', 'Task', look);
        yield started('p', 'a-1');
        answers.push(await pre('c', 'Bash', { command: 'rm' }, { agent_id: 'a-1' }));
        yield call('c', 'Bash', { command: 'rm' }, inside('p', 'a-1'));
        yield answer('c', 'denied', inside('p', 'a-1'), true);
        yield answer('p', 'I could not.');
        yield result();
      },
      {
        contribute: (kernel: Kernel) =>
          kernel.contribute({
            ...at,
            family: 'agent.tool.calling',
            class: 'veto',
            handler: ({ payload }) =>
              payload.toolName === 'Bash' ? cancel('policy', { text: 'no' }) : null,
          }),
      },
    );
    expect(JSON.stringify(answers)).toMatch(/"deny"/);
    const calls = of('agent.tool.calling').filter(({ payload }) => payload.toolCallId === 'c');
    expect(calls).toMatchObject([
      { status: 'cancelled', event: { metadata: { subagentId: 'a-1' } } },
    ]);
    const called = of('agent.tool.called').filter(({ payload }) => payload.toolCallId === 'c');
    expect(called).toMatchObject([{ payload: { error: 'no' } }]);
  });
});
