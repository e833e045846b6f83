import { describe, expect, it } from 'vitest';
import { cancel, type Kernel } from '../../../src/kernel/internal.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { type HostLabOptions, hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { end, said, scripted, start, toolEnd, toolStart } from '../../support/turn-lab.js';

const agents = (provider: AgentProvider) => [{ id: 'main', provider }];

/** Says something, calls a tool, and answers; it thinks before both. */
const works = scripted(async function* ({ gate }) {
  yield start;
  yield* said('Let me look.', { thinking: 'I must look.', calls: [{ id: 't', name: 'read' }] });
  yield toolStart('t');
  await gate({ toolCallId: 't', toolName: 'read', args: { path: 'a.txt' } });
  yield toolEnd('t', 'read', 'it is empty');
  yield* said('It is empty.', { thinking: 'I have looked.' });
  yield end();
});

async function kindsOf(options: HostLabOptions) {
  await using lab = await hostLab({ agents: agents(works), ...options });
  const { status } = await lab.say('look');
  return { status, sent: lab.channel.sent.map(({ kind, content }) => [kind, content] as const) };
}

describe('what an agent says while it works', () => {
  it('goes out message by message, before the tool runs, each through egress; the last is the reply', async () => {
    const channel = scriptedChannel();
    const sentBefore: (readonly string[])[] = [];
    const observe = (kernel: Kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'probe' },
        family: 'agent.tool.calling',
        class: 'veto',
        handler: () => void sentBefore.push(channel.sent.map(({ content }) => content)),
      });
    await using lab = await hostLab({ channel, agents: agents(works), contribute: observe });
    expect(await lab.say('look')).toMatchObject({ status: 'answered', sends: [{}, {}] });
    expect(sentBefore).toEqual([['Let me look.']]);
    expect(channel.sent).toMatchObject([
      { kind: 'block', content: 'Let me look.', runId: 'run-1', replyToId: 'm-look' },
      { kind: 'reply', content: 'It is empty.', runId: 'run-1' },
    ]);
    expect(lab.of('egress.preparing')).toHaveLength(2);
    expect(lab.of('egress.sent')).toHaveLength(2);
  });

  it('is not sent where a veto of egress cancels it, and the rest is (§14.1)', async () => {
    const noBlocks = (kernel: Kernel) =>
      kernel.contribute({
        ...{ extensionId: 'test', id: 'no-blocks' },
        family: 'egress.preparing',
        class: 'veto',
        handler: ({ payload }) => (payload.kind === 'block' ? cancel('policy') : undefined),
      });
    const { status, sent } = await kindsOf({ contribute: noBlocks });
    expect({ status, sent }).toEqual({ status: 'answered', sent: [['reply', 'It is empty.']] });
  });

  it('is nothing where it says NO_REPLY', async () => {
    const silent = scripted(async function* () {
      yield start;
      yield* said('NO_REPLY');
      yield end();
    });
    expect(await kindsOf({ agents: agents(silent) })).toEqual({ status: 'silent', sent: [] });
  });

  it('is out where the run fails afterwards, with a word that it failed', async () => {
    const fails = scripted(async function* () {
      yield start;
      yield* said('half');
      throw new Error('connection reset');
    });
    const { status, sent } = await kindsOf({ agents: agents(fails) });
    expect({ status, kinds: sent.map(([kind]) => kind) }).toEqual({
      status: 'failed',
      kinds: ['reply', 'error'],
    });
  });
});

describe('what is shown beside the answers', () => {
  it.each([
    ['off', ['block', 'reply']],
    ['on', ['block', 'tool-output', 'reply']],
    ['full', ['block', 'tool-output', 'tool-output', 'reply']],
  ] as const)(
    'of tools, at verbose level %s (facts of the legacy system, 5.4)',
    async (verboseLevel, kinds) => {
      const { sent } = await kindsOf({ replies: { verboseLevel } });
      expect(sent.map(([kind]) => kind)).toEqual(kinds);
      const shown = sent.filter(([kind]) => kind === 'tool-output').map(([, content]) => content);
      if (verboseLevel === 'full') expect(shown.at(-1)).toContain('it is empty');
    },
  );

  it('tells the verbose level to agent.starting', async () => {
    await using lab = await hostLab({ replies: { verboseLevel: 'full' } });
    await lab.say('hi');
    expect(lab.of('agent.starting')[0]?.payload).toMatchObject({ verboseLevel: 'full' });
  });

  it.each([
    ['off', []],
    ['on', ['I must look.', 'I have looked.']],
    ['stream', ['I must look.', 'I have looked.']],
  ] as const)(
    'of reasoning, in mode %s: as messages of their own',
    async (reasoningMode, thoughts) => {
      const { status, sent } = await kindsOf({ replies: { reasoningMode } });
      const reasoning = sent.filter(([kind]) => kind === 'reasoning').map(([, content]) => content);
      expect(reasoning).toHaveLength(thoughts.length);
      thoughts.forEach((thought, at) => {
        expect(reasoning[at]).toContain(thought);
      });
      const answers = sent.filter(([kind]) => kind !== 'reasoning');
      expect({ status, answers }).toEqual({
        status: 'answered',
        answers: [
          ['block', 'Let me look.'],
          ['reply', 'It is empty.'],
        ],
      });
    },
  );
});

describe('a turn of a host', () => {
  const hangs = scripted(async function* ({ signal }) {
    yield start;
    yield* said('Let me look.', { calls: [{ id: 't', name: 'read' }] });
    yield toolStart('t');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield toolEnd('t');
    yield* said('half', { stopReason: 'aborted' });
    yield end({ aborted: true });
  });

  it('can be stopped while the host goes on: what is out stays out, nothing more is sent', async () => {
    await using lab = await hostLab({ agents: agents(hangs) });
    const saying = lab.say('look');
    await lab.clock.advance(10);
    expect(lab.texts()).toEqual(['Let me look.']);
    expect(lab.host.abortTurns('another')).toBe(0);
    expect(lab.host.abortTurns()).toBe(1);
    expect(lab.host.abortTurns()).toBe(0);
    const stopped = await saying;
    expect(stopped).toMatchObject({ status: 'aborted', sends: [{ status: 'sent' }] });
    expect(lab.texts()).toEqual(['Let me look.']);
    expect(lab.host.state).toBe('running');
  });

  it('fails when its time is up, and its sender is told', async () => {
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: hangs, timeoutMs: 5_000 }],
    });
    const saying = lab.say('look');
    await lab.clock.advance(5_000);
    expect(await saying).toMatchObject({ status: 'failed', reason: /took longer than 5000 ms/ });
    expect(lab.texts()).toEqual(['Let me look.', 'half', expect.stringContaining('timed-out')]);
  });

  it('falls back on another model where the first fails', async () => {
    const provider = scripted(
      async function* ({ model }) {
        if (model === 'bad') throw new Error('overloaded');
        yield start;
        yield* said(`from ${model}`);
        yield end();
      },
      { models: ['bad', 'good'] },
    );
    const retry = { fallbacks: [{ provider: 'scripted', model: 'good' }] };
    await using lab = await hostLab({ agents: [{ id: 'main', provider, retry }] });
    expect((await lab.say('hi')).status).toBe('answered');
    expect(lab.texts()).toEqual(['from good']);
  });

  it('says what it says before a tool, before the tool runs, in a second attempt as well', async () => {
    const channel = scriptedChannel();
    let attempts = 0;
    let sentBefore: readonly string[] = [];
    const provider = scripted(async function* () {
      yield start;
      if (++attempts === 1) throw new Error('overloaded');
      yield* said('Let me look.', { calls: [{ id: 't', name: 'read' }] });
      yield toolStart('t');
      sentBefore = channel.sent.map(({ content }) => content);
      yield toolEnd('t');
      yield end();
    });
    const retry = { maxAttempts: 2 };
    await using lab = await hostLab({ channel, agents: [{ id: 'main', provider, retry }] });
    expect((await lab.say('look')).status).toBe('answered');
    expect(sentBefore).toEqual(['Let me look.']);
  });

  it('fails as a message where a send of it cannot even be dispatched', async () => {
    const closes = scripted(async function* () {
      yield start;
      yield* said('Let me look.', { calls: [{ id: 't', name: 'read' }] });
      await kernel?.close();
      yield toolStart('t');
      yield toolEnd('t');
      yield end();
    });
    let kernel: Kernel | undefined;
    const lab = await hostLab({ agents: agents(closes) });
    kernel = lab.kernel;
    const saying = lab.say('look');
    await lab.clock.advance(10_000);
    expect((await saying).status).toBe('failed');
  });
});
