import { describe, expect, it } from 'vitest';
import { cancel, select } from '../../../src/kernel/internal.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';
import { end, said, scripted, start, turnLab } from '../../support/turn-lab.js';

const told = 'This message could not be answered (said-nothing).';
const call = [{ id: 't', name: 'look' }] as const;
const tool = { toolCallId: 't', toolName: 'look' } as const;

/** An agent whose runs are these, one after the other; then the last one again. */
function agentOf(...runs: readonly (readonly SessionEvent[])[]) {
  let asked = 0;
  const provider = scripted(async function* () {
    yield start;
    yield* runs[Math.min(asked++, runs.length - 1)] ?? [];
    yield end();
  });
  return { id: 'main', provider, asked: () => asked };
}

describe('an agent that ends without a text, a file or a tool call (event-pipeline §16.28)', () => {
  it.each<[string, readonly SessionEvent[]]>([
    ['nothing at all', []],
    ['an empty message', [...said('')]],
    ['blanks', [...said(' \n ')]],
    ['thoughts', [...said('', { thinking: 'The sun.' })]],
    ['thoughts in tags', [...said('<think>The sun.</think>')]],
    ['directives alone', [...said('[[reply_to_current]] [[audio_as_voice]]')]],
    [
      'an end of a compaction',
      [
        { type: 'auto_compaction_start', reason: 'threshold' },
        { type: 'auto_compaction_end', aborted: false, willRetry: false },
      ],
    ],
  ])('has failed, and the sender is told: %s', async (_, events) => {
    await using lab = await hostLab({ agents: [agentOf(events, [...said('Sunny.')])] });
    expect(await lab.say('weather?')).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('without a text, a file or a tool call'),
    });
    expect(lab.texts()).toEqual([told]);
    expect(lab.of('agent.completed')).toMatchObject([{ payload: { success: false } }]);
    const logged = lab.log.entries.filter(({ level }) => level === 'error');
    expect(logged).toMatchObject([{ fields: { code: 'said-nothing' } }]);
    expect(await lab.say('and now?')).toMatchObject({ status: 'answered' });
    expect(lab.texts()).toEqual([told, 'Sunny.']);
  });

  it('has failed once, if its thoughts were shown', async () => {
    const agents = [agentOf([...said('', { thinking: 'The sun.' })])];
    await using lab = await hostLab({ agents, replies: { reasoningMode: 'on' } });
    expect(await lab.say('weather?')).toMatchObject({ status: 'failed' });
    expect(lab.texts().filter((text) => text === told)).toHaveLength(1);
  });

  it('is asked again, if its retry says so, and the sender sees the answer alone', async () => {
    const { provider, asked, id } = agentOf([], [...said('Sunny.')]);
    await using lab = await hostLab({ agents: [{ id, provider, retry: { maxAttempts: 2 } }] });
    expect(await lab.say('weather?')).toMatchObject({ status: 'answered' });
    expect(lab.texts()).toEqual(['Sunny.']);
    expect(asked()).toBe(2);
  });

  it.each<[string, string, readonly SessionEvent[]]>([
    ['it says NO_REPLY', 'silent', [...said('NO_REPLY')]],
    [
      'it says NO_REPLY before a compaction that begins anew',
      'silent',
      [
        ...said('NO_REPLY'),
        { type: 'auto_compaction_start', reason: 'overflow' },
        { type: 'auto_compaction_end', aborted: false, willRetry: true },
      ],
    ],
    [
      'it called a tool',
      'silent',
      [
        ...said('', { calls: call }),
        { type: 'tool_execution_start', ...tool, args: {} },
        { type: 'tool_execution_end', ...tool, result: 'sent', isError: false },
        ...said(''),
      ],
    ],
    [
      'it made room in its context, as it was asked',
      'silent',
      [
        { type: 'auto_compaction_start', reason: 'manual' },
        { type: 'auto_compaction_end', aborted: false, willRetry: false },
      ],
    ],
    ['it said a file', 'answered', [...said('MEDIA: https://files.example/sun.png')]],
  ])('has not failed if %s', async (_, status, events) => {
    await using lab = await hostLab({ agents: [agentOf(events)] });
    expect(await lab.say('weather?')).toMatchObject({ status });
    expect(lab.texts()).not.toContain(told);
    expect(lab.of('agent.completed')).toMatchObject([{ payload: { success: true } }]);
  });

  it('is told apart from an answer that a veto keeps back: the agent has spoken', async () => {
    await using lab = await hostLab({
      agents: [agentOf([...said('Sunny.')])],
      contribute: (kernel) =>
        kernel.contribute({
          ...{ family: 'egress.preparing', class: 'veto', extensionId: 'test', id: 'hush' },
          handler: () => cancel('policy'),
        }),
    });
    expect(await lab.say('weather?')).toMatchObject({ status: 'cancelled' });
  });

  it('is told apart from a handler that answers with nothing in place of the model (§16.25)', async () => {
    await using lab = await hostLab({
      contribute: (kernel) =>
        kernel.contribute({
          ...{
            family: 'agent.answer.resolving',
            class: 'resolver',
            extensionId: 'test',
            id: 'own',
          },
          handler: () => select({}),
        }),
    });
    expect(await lab.say('weather?')).toMatchObject({ status: 'silent' });
    expect(lab.texts()).toEqual([]);
  });

  it('is told apart from a run that was aborted', async () => {
    const provider = scripted(async function* () {
      yield start;
      yield end({ aborted: true });
    });
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    expect(await lab.say('weather?')).toMatchObject({ status: 'aborted' });
    expect(lab.texts()).toEqual([]);
  });

  it.each([
    ['a tool has run', [{ type: 'toolCall', id: 't', name: 'look', arguments: {} }], 'completed'],
    ['it was thought', [{ type: 'thinking', thinking: 'Hm.' }], 'failed'],
  ] as const)(
    'counts the work of the same prompt from before a crash: %s',
    async (_, content, status) => {
      const begun = [
        { role: 'user', content: 'weather?' },
        { role: 'assistant', content },
      ];
      const history: [] = [];
      const session = {
        agentId: 'main',
        sessionKey: 'k',
        sessionId: 's',
        history,
        begun,
        append() {},
      };
      const { provider } = agentOf([]);
      const callbacks = { onBlockReply: () => undefined };
      const { result } = turnLab({ provider, session, callbacks, mustAnswer: true });
      expect((await result).status).toBe(status);
      const as = turnLab({ provider, session, callbacks });
      expect((await as.result).status).toBe('completed'); // as in the live system
    },
  );

  it('is asked again also if all that it said were thoughts in tags', async () => {
    const thought = [...said('<think>The sun.</think>')];
    const { provider, asked, id } = agentOf(thought, []);
    await using lab = await hostLab({ agents: [{ id, provider, retry: { maxAttempts: 2 } }] });
    expect(await lab.say('weather?')).toMatchObject({ status: 'failed' });
    expect(lab.texts()).toEqual([told]);
    expect(asked()).toBe(2);
  });

  it.each([
    ['a tool', said('', { calls: call }), 'silent'],
    ['a text', said('Half'), 'answered'],
  ] as const)('counts the work of an attempt before: %s', async (_, events, status) => {
    let asked = 0;
    const provider = scripted(async function* () {
      yield start;
      if (++asked === 1) {
        yield* events;
        throw new Error('gone');
      }
      yield end();
    });
    const retry = { maxAttempts: 2, shouldRetry: () => true };
    await using lab = await hostLab({ agents: [{ id: 'main', provider, retry }] });
    expect(await lab.say('weather?')).toMatchObject({ status });
    expect(lab.texts()).not.toContain(told);
  });

  it('counts a call that was refused before any event told of it (§16.3)', async () => {
    const provider = scripted(async function* ({ gate }) {
      yield start;
      await gate({ ...tool, args: {} });
      yield end();
    });
    await using lab = await hostLab({ agents: [{ id: 'main', provider }] });
    expect(await lab.say('weather?')).toMatchObject({ status: 'silent' });
  });

  it('is worded by the operator (§16.19)', async () => {
    const failureText = { 'said-nothing': 'I have no answer to that.' };
    await using lab = await hostLab({ agents: [agentOf([])], failureText });
    await lab.say('weather?');
    expect(lab.texts()).toEqual(['I have no answer to that.']);
  });
});
