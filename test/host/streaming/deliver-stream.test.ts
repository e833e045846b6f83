import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ActiveStreams,
  type DeliverStreamContext,
  deliverStream,
  type TriggeredAgent,
} from '../../../src/host/index.js';
import { allow } from '../../../src/kernel/internal.js';
import {
  type AgentAnswer,
  type AgentTrigger,
  type StreamDelta,
  unreachedError,
} from '../../../src/sdk/stream/index.js';
import { createTestKernel, type VirtualClock } from '../../../src/testing/index.js';
import { scriptedChannel } from '../../support/scripted-channel.js';
import { type StreamingChannelOptions, streamingChannel } from '../../support/streaming-channel.js';

const trigger: AgentTrigger = {
  type: 'dm',
  source: { channelType: 'scripted', instanceId: 'default', chatId: 'ada', messageId: 'm-1' },
  sender: { platformUserId: 'ada' },
  content: { text: 'hi' },
  sessionId: 's',
};

const content = (text: string): StreamDelta => ({ phase: 'content', content: text });
const final = (text: string): StreamDelta => ({ phase: 'final', content: text });
const thinking = (text: string): StreamDelta => ({
  ...{ phase: 'thinking', thinking: text, thinkingElapsedMs: 1 },
});
const failure: StreamDelta = { phase: 'error', error: 'overloaded' };

/** An agent that yields a delta every ten milliseconds, and says how it was used. */
function agentOf(
  clock: VirtualClock,
  deltas: readonly (StreamDelta | 'throw' | 'hang')[],
  answer: AgentAnswer | undefined = { status: 'answered', parts: ['whole'] },
) {
  const used = { streams: 0, triggers: 0, open: 0 };
  const agent: TriggeredAgent = {
    async *triggerStream() {
      used.streams++;
      used.open++;
      try {
        for (const delta of deltas) {
          await new Promise<void>((resolve) => clock.setTimeout(resolve, 10));
          if (delta === 'throw') throw new Error('broken');
          if (delta === 'hang') await new Promise(() => undefined);
          else yield delta;
        }
      } finally {
        used.open--;
      }
    },
    ...(answer !== undefined && {
      trigger: async () => {
        used.triggers++;
        return answer;
      },
    }),
  };
  return { agent, used };
}

function labOf(stream: StreamingChannelOptions = {}) {
  const test = createTestKernel();
  const channel = streamingChannel(stream);
  const streams = new ActiveStreams();
  const run = async (
    agent: TriggeredAgent,
    options: Partial<DeliverStreamContext> = {},
    ms = 10_000,
  ) => {
    const { kernel, clock, log: logger } = test;
    const delivering = deliverStream(agent, channel, {
      kernel,
      trigger,
      streams,
      clock,
      logger,
      ...options,
    });
    await clock.advance(ms);
    return delivering;
  };
  const ends = () =>
    test.outcomes
      .map(({ event }) => event)
      .filter(({ family }) => ['egress.sent', 'egress.cancelled', 'egress.failed'].includes(family))
      .map(({ family, payload }) => `${(payload as { kind: string }).kind} ${family}`);
  return { ...test, channel, streams, run, ends };
}

describe('deliverStream', () => {
  it('drives the sender phase by phase, and ends with one send (§14.6, §14.12)', async () => {
    const lab = labOf();
    const { agent, used } = agentOf(lab.clock, [content('Hel'), content('Hello'), final('Hello!')]);
    expect(await lab.run(agent)).toMatchObject({ status: 'answered', sends: [{ status: 'sent' }] });
    expect(lab.channel.calls).toEqual(['1 content Hel', '1 content Hello', '1 final Hello!']);
    expect(lab.channel.screen).toEqual([{ by: 'final', text: 'Hello!' }]);
    expect(lab.ends()).toEqual(['stream-final egress.sent']);
    expect(used).toEqual({ streams: 1, triggers: 0, open: 0 });
    expect(lab.outcomes[0]?.event.payload).toMatchObject({ to: 'ada', replyToId: 'm-1' });
    expect(lab.streams.size).toBe(0);
  });

  it('shows thoughts as a reply of their own, where they are asked for, and not else (§14.11)', async () => {
    const deltas = [
      thinking('Who'),
      thinking('Who is it?'),
      content('Ada'),
      thinking('late'),
      final('Ada.'),
    ];
    const lab = labOf();
    await lab.run(agentOf(lab.clock, deltas).agent, { reasoning: 'stream' });
    expect(lab.channel.calls).toEqual([
      '1 thinking Who',
      '1 thinking Who is it?',
      '1 final Who is it?',
      '2 content Ada',
      '2 final Ada.',
    ]);
    expect(lab.ends()).toEqual(['reasoning egress.sent', 'stream-final egress.sent']);
    const other = labOf();
    await other.run(agentOf(other.clock, deltas).agent);
    expect(other.channel.calls).toEqual(['1 content Ada', '1 final Ada.']);
  });

  it('asks for the whole (§14.12) where the channel cannot stream, a handler has to see the whole, or the agent cannot stream', async () => {
    const deltas = [content('Hel'), final('Hello')];
    const plain = labOf();
    const { agent, used } = agentOf(plain.clock, deltas);
    const channel = scriptedChannel();
    const { kernel, clock, streams } = plain;
    expect(await deliverStream(agent, channel, { kernel, clock, streams, trigger })).toMatchObject({
      status: 'answered',
    });
    expect(channel.sent).toMatchObject([{ content: 'whole', kind: 'reply' }]);
    expect(used).toMatchObject({ streams: 0, triggers: 1 });

    const judged = labOf();
    const at = { extensionId: 'test', id: 'judge', family: 'egress.preparing' } as const;
    judged.kernel.contribute({ ...at, class: 'veto', handler: () => allow() });
    const again = agentOf(judged.clock, deltas);
    await judged.run(again.agent);
    expect(again.used).toMatchObject({ streams: 0, triggers: 1 });

    const mute = labOf();
    const { agent: whole } = agentOf(mute.clock, deltas);
    const { triggerStream: _, ...only } = whole;
    expect((await mute.run(only)).status).toBe('answered');
    expect(mute.channel.screen).toEqual([{ by: 'send', text: 'whole' }]);
  });

  it('hears a stream to its end, and sends it whole, where the agent can do nothing else', async () => {
    const lab = labOf();
    const { triggerStream } = agentOf(lab.clock, [content('Hel'), final('Hello')]).agent;
    const channel = scriptedChannel();
    const { kernel, clock, streams } = lab;
    const delivering = deliverStream({ triggerStream: triggerStream ?? never }, channel, {
      ...{ kernel, clock, streams, trigger },
    });
    await clock.advance(1_000);
    expect((await delivering).status).toBe('answered');
    expect(channel.sent).toMatchObject([{ content: 'Hello', kind: 'reply' }]);
  });

  it.each([
    ['where nothing was asked of the agent', unreachedError('the circuit is open'), {}, 1],
    ['not where the agent may have worked', failure, {}, 0],
    ['where that is asked for, all the same', failure, { rerunAfterError: true }, 1],
  ] as const)('asks again after an error %s (§14.12)', async (_, error, options, triggers) => {
    const lab = labOf();
    const { agent, used } = agentOf(lab.clock, [error]);
    const answer = await lab.run(agent, options);
    expect(used.triggers).toBe(triggers);
    expect(answer.status).toBe(triggers === 1 ? 'answered' : 'failed');
    expect(lab.channel.screen).toHaveLength(triggers);
  });

  it('takes back what was shown where the agent fails, with one end (§14.8)', async () => {
    const lab = labOf();
    const { agent } = agentOf(lab.clock, [content('Hel'), content('Hello'), failure]);
    expect(await lab.run(agent)).toMatchObject({ status: 'failed', reason: 'overloaded' });
    expect(lab.channel.calls.at(-1)).toBe('1 error overloaded');
    expect(lab.channel.screen).toEqual([]);
    expect(lab.ends()).toEqual(['stream-opening egress.failed']);
    const failed = lab.outcomes.at(-1)?.event.payload;
    expect(failed).toMatchObject({ cause: 'agent-failed', error: 'overloaded' });
  });

  it.each<[string, (StreamDelta | 'throw')[]]>([
    ['throws', [content('Hel'), 'throw']],
    ['ends without a final', [content('Hel')]],
  ])('contains a stream that %s', async (_, deltas) => {
    const lab = labOf();
    const { agent, used } = agentOf(lab.clock, deltas);
    expect(await lab.run(agent)).toMatchObject({ status: 'failed' });
    expect(used.triggers).toBe(0);
    expect(lab.channel.screen).toEqual([]);
    expect(lab.ends()).toEqual(['stream-opening egress.failed']);
  });

  it.each([
    [{ kind: 'notice' }, 1],
    [{ channel: ['pigeon', 'telegram'] }, 1],
    [{ kind: 'reply' }, 0], // it goes out as one if it may not grow
    [{ kind: 'stream-*' }, 0],
    [{ channel: 'scripted' }, 0],
    [{ replyToId: '7' }, 0],
    [undefined, 0],
  ] as const)(
    'shows a reply while it grows beside a veto that matches %j: %i streams (judgement §2.8)',
    async (match, streams) => {
      const lab = labOf();
      lab.kernel.contribute({
        extensionId: 'test',
        id: 'judge',
        family: 'egress.preparing',
        class: 'veto',
        ...(match !== undefined && { match }),
        handler: () => allow(),
      });
      const { agent, used } = agentOf(lab.clock, [content('Hel'), final('Hello')]);
      await lab.run(agent);
      expect(used).toMatchObject({ streams, triggers: 1 - streams });
    },
  );

  it('is silent where the agent says nothing', async () => {
    const lab = labOf();
    expect(await lab.run(agentOf(lab.clock, []).agent)).toEqual({ status: 'silent', sends: [] });
    expect(await lab.run(agentOf(lab.clock, [final('  ')]).agent)).toMatchObject({
      status: 'silent',
    });
    expect(lab.ends()).toEqual([]);
  });

  it.each([
    ['its consumer', (signal: AbortSignal) => ({ trigger, signal })],
    ['the signal of its trigger', (signal: AbortSignal) => ({ trigger: { ...trigger, signal } })],
    [
      'the abortSignal of its trigger',
      (abortSignal: AbortSignal) => ({ trigger: { ...trigger, abortSignal } }),
    ],
  ])(
    'aborts the sender and lets go of the stream when %s stops it, also while a delta is awaited',
    async (_, stopped) => {
      const lab = labOf();
      const stop = new AbortController();
      const { agent, used } = agentOf(lab.clock, [content('Hel'), 'hang']);
      const { kernel, clock, streams } = lab;
      const delivering = deliverStream(agent, lab.channel, {
        ...{ kernel, clock, streams, ...stopped(stop.signal) },
      });
      await clock.advance(50);
      expect(lab.channel.screen).toEqual([{ by: 'preview', text: 'Hel' }]);
      stop.abort();
      await clock.advance(0);
      expect(await delivering).toMatchObject({ status: 'aborted', sends: [{ status: 'failed' }] });
      expect(lab.channel.calls.at(-1)).toBe('1 abort');
      expect(lab.channel.screen).toEqual([]);
      expect(used.streams).toBe(1);
      expect(lab.streams.size).toBe(0);
    },
  );

  it('lets one reply grow in a conversation at a time; the other is asked for whole (§14.10)', async () => {
    const lab = labOf();
    const deltas = [content('Hel'), content('Hello'), final('Hello!')];
    const first = agentOf(lab.clock, deltas);
    const second = agentOf(lab.clock, deltas);
    const { kernel, clock, streams } = lab;
    const context = { kernel, clock, streams, trigger };
    const one = deliverStream(first.agent, lab.channel, context);
    await clock.advance(15);
    const two = deliverStream(second.agent, lab.channel, context);
    await clock.advance(1_000);
    expect((await two).status).toBe('answered');
    expect((await one).status).toBe('answered');
    expect(second.used).toMatchObject({ streams: 0, triggers: 1 });
    expect(lab.channel.calls.every((call) => call.startsWith('1 '))).toBe(true);
  });

  it('lets no other reply grow in a conversation before what was shown of a stopped one is taken back (§14.10)', async () => {
    let goOn = (): void => undefined;
    const takingBack = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const lab = labOf({ before: (call) => (call === 'abort' ? takingBack : undefined) });
    const stop = new AbortController();
    const { kernel, clock, streams } = lab;
    const context = { kernel, clock, streams, trigger };
    const first = agentOf(clock, [content('Hel'), 'hang']);
    const one = deliverStream(first.agent, lab.channel, { ...context, signal: stop.signal });
    await clock.advance(50);
    stop.abort();
    await clock.advance(0);
    expect(lab.channel.screen).toEqual([{ by: 'preview', text: 'Hel' }]);
    expect(streams.size).toBe(1);
    goOn();
    await clock.advance(0);
    expect((await one).status).toBe('aborted');
    expect([lab.channel.screen, streams.size]).toEqual([[], 0]);
  });

  it('refuses an agent that cannot be triggered', async () => {
    const { kernel, streams } = labOf();
    await expect(
      deliverStream({}, scriptedChannel(), { kernel, streams, trigger }),
    ).rejects.toMatchObject({ code: 'no-trigger' });
  });

  it('leaves nothing behind, whatever the agent, the sender and the consumer do (fault 26)', async () => {
    const delta = fc.constantFrom<StreamDelta | 'throw' | 'hang'>(
      ...[thinking('Hm.'), content('a'), content('ab'), content(' '), final('ab'), final('')],
      ...([failure, unreachedError('open'), 'throw', 'hang'] as const),
    );
    const scenario = fc.record({
      deltas: fc.array(delta, { maxLength: 6 }),
      throwsAt: fc.constantFrom('none', 'thinking', 'content', 'final', 'error', 'abort'),
      reasoning: fc.constantFrom('off' as const, 'stream' as const),
      rerunAfterError: fc.boolean(),
      abortAfterMs: fc.constantFrom(-1, 0, 15, 25, 45),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ deltas, throwsAt, abortAfterMs, ...options }) => {
        const lab = labOf({
          before: (call) => {
            if (call === throwsAt) throw new Error('trouble');
          },
        });
        const { agent, used } = agentOf(lab.clock, deltas);
        const stop = new AbortController();
        const { kernel, clock, streams } = lab;
        const delivering = deliverStream(agent, lab.channel, {
          ...{ kernel, clock, streams, trigger, signal: stop.signal, ...options },
        });
        await clock.advance(abortAfterMs >= 0 ? abortAfterMs : 1_000);
        stop.abort();
        await clock.advance(100_000);
        await delivering;
        expect(streams.size).toBe(0);
        expect(used.open).toBe(deltas.includes('hang') ? used.open : 0);
        const prepared = lab.outcomes.filter(({ event }) => event.family === 'egress.preparing');
        const openings = new Set(
          prepared.map(({ event }) => (event.payload as { openedBy?: string }).openedBy),
        );
        const expected = prepared.filter(({ event }) => !openings.has(event.eventId));
        expect(lab.ends()).toHaveLength(expected.length);
        if (throwsAt === 'none' || throwsAt === 'thinking' || throwsAt === 'content')
          expect(lab.channel.screen.filter(({ by }) => by === 'preview')).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

async function* never(): AsyncGenerator<StreamDelta> {}
