import { describe, expect, it, vi } from 'vitest';
import { normalizeSession } from '../../../src/claude/index.js';
import { cancel, type Kernel, select } from '../../../src/kernel/internal.js';
import type { AgentProvider, SubagentFact } from '../../../src/sdk/stream/index.js';
import { type HostLab, hostLab } from '../../support/host-lab.js';
import { deferred } from '../../support/kernel-lab.js';
import { recordings } from '../../support/recordings.js';
import { said } from '../../support/turn-lab.js';

const at = { extensionId: 'test', id: 'probe' } as const;

/** An agent that answers while a subagent of its goes on, and tells of that one's answer when it may. */
function delegator(...runs: readonly string[]) {
  const finished = deferred<void>();
  const provider: AgentProvider = {
    id: 'delegator',
    models: ['m'],
    toolGate: 'enforce',
    subagentOf: () => undefined,
    async *run({ tell }) {
      yield { type: 'agent_start' };
      for (const childRunId of runs)
        tell({
          kind: 'child_runs',
          child: { toolCallId: `call-${childRunId}`, childRunId, agentId: 'x', isBackground: true },
        });
      yield* said('It is at work.');
      tell({ kind: 'answered' });
      await finished.promise;
      for (const childRunId of runs) tell({ kind: 'child_ended', childRunId, status: 'completed' });
      tell({ kind: 'children_answered', childRunIds: runs });
      yield* said('It has found');
      yield* said('nothing.');
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { provider, finish: () => finished.resolve() };
}

async function delivered(runs: readonly string[], contribute?: (kernel: Kernel) => unknown) {
  const { provider, finish } = delegator(...runs);
  const lab = await hostLab({
    agents: [{ id: 'main', provider }],
    contribute: (kernel) => void contribute?.(kernel),
  });
  const end = lab.say('Look for it.');
  await vi.waitFor(() => expect(lab.texts()).toEqual(['It is at work.']), { timeout: 280_000 });
  finish();
  return { lab, end: await end };
}

const placesOf = ({ channel }: HostLab) =>
  channel.sent.map(({ to, threadId, content, kind }) => [to, threadId, content, kind]);

describe('the answer of a subagent that ran in the background', () => {
  it('goes to where the request came from, after the message’s own answer, which waits for nothing (§16.17)', async () => {
    const { lab, end } = await delivered(['a-1']);
    await using _ = lab;
    expect(placesOf(lab)).toEqual([
      ['scripted:ada', undefined, 'It is at work.', 'reply'],
      ['scripted:ada', undefined, 'It has found', 'block'],
      ['scripted:ada', undefined, 'nothing.', 'reply'],
    ]);
    expect(end.status).toBe('answered');
    const child = {
      childSessionKey: 'agent:main:scripted:ada:subagent:call-a-1',
      requesterSessionKey: 'agent:main:scripted:ada',
      childRunId: 'a-1',
    };
    expect(lab.of('subagent.delivery.resolving').map(({ payload }) => payload)).toEqual([
      {
        ...child,
        spawnMode: 'run',
        requesterOrigin: { channel: 'scripted', accountId: 'default', to: 'scripted:ada' },
        expectsCompletionMessage: true,
      },
    ]);
    expect(lab.of('subagent.delivery.resolved').map(({ payload }) => payload)).toMatchObject([
      {
        ...child,
        target: { channel: 'scripted', accountId: 'default', to: 'scripted:ada' },
        explicit: false,
      },
    ]);
  });

  it('goes to where a resolver says, by the same rules as a route (§16.17)', async () => {
    const { lab } = await delivered(['a-1'], (kernel) =>
      kernel.contribute({
        ...at,
        family: 'subagent.delivery.resolving',
        class: 'resolver',
        handler: () => select({ to: 'room', threadId: 't-1' }, { explicit: true }),
      }),
    );
    await using _ = lab;
    expect(placesOf(lab).slice(1)).toEqual([
      ['room', 't-1', 'It has found', 'block'],
      ['room', 't-1', 'nothing.', 'reply'],
    ]);
    const [resolved] = lab.of('subagent.delivery.resolved');
    expect(resolved?.payload).toMatchObject({
      target: { channel: 'scripted', to: 'room', threadId: 't-1' },
      explicit: true,
      selectedBy: { extensionId: 'test', contributionId: 'probe' },
    });
  });

  it('goes nowhere where a veto cancels it, and that is told (§16.17)', async () => {
    const { lab, end } = await delivered(['a-1'], (kernel) =>
      kernel.contribute({
        ...at,
        family: 'subagent.delivery.resolving',
        class: 'veto',
        handler: () => cancel('not-wanted'),
      }),
    );
    await using _ = lab;
    expect(lab.texts()).toEqual(['It is at work.']);
    expect(lab.of('subagent.delivery.resolved')).toEqual([]);
    expect(end.sends.map(({ status, cancel: by }) => [status, by?.code])).toEqual([
      ['sent', undefined],
      ['cancelled', 'not-wanted'],
      ['cancelled', 'not-wanted'],
    ]);
  });

  it('is asked about for each of several subagents, and sent once to each place (§16.17)', async () => {
    const { lab } = await delivered(['a-1', 'a-2', 'a-3'], (kernel) =>
      kernel.contribute({
        ...at,
        family: 'subagent.delivery.resolving',
        class: 'resolver',
        handler: ({ payload }) =>
          payload.childRunId === 'a-2' ? select({ to: 'room' }) : undefined,
      }),
    );
    await using _ = lab;
    expect(lab.of('subagent.delivery.resolved')).toHaveLength(3);
    expect(
      placesOf(lab)
        .slice(1)
        .map(([to, , content]) => [to, content]),
    ).toEqual([
      ['scripted:ada', 'It has found'],
      ['room', 'It has found'],
      ['scripted:ada', 'nothing.'],
      ['room', 'nothing.'],
    ]);
  });

  const toRoom = (kernel: Kernel): void =>
    void kernel.contribute({
      ...at,
      family: 'subagent.delivery.resolving',
      class: 'resolver',
      handler: () => select({ to: 'room' }),
    });

  it.each([
    ['of none', () => []],
    ['of a subagent of another subagent', () => ['a-1.1']],
  ])(
    'decides where its own text goes: the text of a later turn that tells %s goes home (§16.17)',
    async (_whose, then) => {
      const provider: AgentProvider = {
        ...delegator().provider,
        async *run({ tell }) {
          yield { type: 'agent_start' };
          const isBackground = true;
          const child = { toolCallId: 'p', childRunId: 'a-1', agentId: 'x', isBackground };
          tell({ kind: 'child_runs', child });
          yield* said('It is at work.');
          tell({ kind: 'answered' });
          tell({ kind: 'children_answered', childRunIds: ['a-1'] });
          yield* said('It has found nothing.');
          tell({ kind: 'children_answered', childRunIds: then() });
          yield* said('Now to your next question.');
          yield { type: 'agent_end', messages: [] };
        },
      };
      await using lab = await hostLab({ agents: [{ id: 'main', provider }], contribute: toRoom });
      await lab.say('Look for it.');
      expect(placesOf(lab).map(([to, , content]) => [to, content])).toEqual([
        ['scripted:ada', 'It is at work.'],
        ['room', 'It has found nothing.'],
        ['scripted:ada', 'Now to your next question.'],
      ]);
    },
  );

  it('decides nothing of another attempt of the turn (§16.17)', async () => {
    let attempts = 0;
    const provider: AgentProvider = {
      ...delegator().provider,
      models: ['m', 'n'],
      async *run({ tell }) {
        yield { type: 'agent_start' };
        if (attempts++ === 0) {
          const isBackground = true;
          const child = { toolCallId: 'p', childRunId: 'a-1', agentId: 'x', isBackground };
          tell({ kind: 'child_runs', child });
          tell({ kind: 'answered' });
          tell({ kind: 'children_answered', childRunIds: ['a-1'] });
          throw new Error('overloaded');
        }
        yield* said('Here I am again.');
        yield { type: 'agent_end', messages: [] };
      },
    };
    const retry = { fallbacks: [{ provider: 'delegator', model: 'n' }] };
    await using lab = await hostLab({
      agents: [{ id: 'main', provider, retry }],
      contribute: toRoom,
    });
    await lab.say('Look for it.');
    expect(attempts).toBe(2);
    expect(placesOf(lab).map(([to, , content]) => [to, content])).toEqual([
      ['scripted:ada', 'Here I am again.'],
    ]);
  });

  it('is over when a turn begins that no subagent’s answer has begun (csdk §7)', async () => {
    const result = { type: 'result', subtype: 'success', is_error: false, result: '' };
    const init = { type: 'system', subtype: 'init', session_id: 's' };
    const frames = [
      init,
      {
        type: 'system',
        subtype: 'task_started',
        task_id: 't-1',
        tool_use_id: 'p',
        task_type: 'local_agent',
        is_backgrounded: true,
      },
      { ...result, queued_turn_count: 1 },
      init,
      { type: 'system', subtype: 'task_notification', task_id: 't-1', status: 'completed' },
      { ...result, queued_turn_count: 1 },
      init,
      { ...result, queued_turn_count: 1 },
      init,
      { ...result, queued_turn_count: 1 },
      init,
      result,
    ];
    const told: (readonly string[])[] = [];
    const onSubagent = (fact: SubagentFact): void => {
      if (fact.kind === 'answered') told.push(['answered']);
      if (fact.kind === 'children_answered') told.push(fact.childRunIds);
    };
    for await (const _event of normalizeSession(frames, { end: 'idle', onSubagent }));
    expect(told).toEqual([['answered'], ['t-1'], []]);
  });

  it('is waited for by no answer if a command goes to the background: it is no subagent (csdk §7)', async () => {
    const factsWith = async (task: object): Promise<readonly string[]> => {
      const facts: SubagentFact[] = [];
      const frames = [
        { type: 'system', subtype: 'init', session_id: 's' },
        { type: 'system', subtype: 'task_started', task_id: 't-1', tool_use_id: 'p', ...task },
        {
          type: 'system',
          subtype: 'task_updated',
          task_id: 't-1',
          patch: { is_backgrounded: true },
        },
        { type: 'result', subtype: 'success', is_error: false, result: '' },
        { type: 'system', subtype: 'task_notification', task_id: 't-1', status: 'completed' },
        { type: 'system', subtype: 'init', session_id: 's' },
        { type: 'result', subtype: 'success', is_error: false, result: '' },
      ];
      const options = {
        end: 'idle',
        onSubagent: (fact: SubagentFact) => facts.push(fact),
      } as const;
      for await (const _event of normalizeSession(frames, options));
      return facts.map(({ kind }) => kind).filter((kind) => kind.endsWith('answered'));
    };
    expect(await factsWith({ task_type: 'local_bash' })).toEqual([]);
    expect(await factsWith({ task_type: 'local_agent' })).toEqual([
      'answered',
      'children_answered',
    ]);
  });
});

describe('a recorded run with a subagent in the background', () => {
  it.skipIf(!recordings().some(({ name }) => name === 'background-agent.jsonl'))(
    'tells its own answer from that of the subagent (csdk §7)',
    async () => {
      const recording = recordings().find(({ name }) => name === 'background-agent.jsonl');
      const frames = (recording?.lines ?? []).map((line) => JSON.parse(line));
      const told: string[] = [];
      const onSubagent = ({ kind }: SubagentFact): void => void told.push(kind);
      for await (const event of normalizeSession(frames, { end: 'idle', onSubagent }))
        if (event.type === 'message_end')
          told.push(
            ...event.message.content.flatMap((one) => (one.type === 'text' ? [one.text] : [])),
          );
      expect(told.filter((one) => !one.startsWith('child_'))).toEqual([
        'Off it goes.',
        'Main goes on 1.',
        'answered',
        'children_answered',
        'Main goes on 3.',
      ]);
    },
  );
});
