import { describe, expect, it } from 'vitest';
import { allow, cancel, type Kernel, select } from '../../../src/kernel/internal.js';
import type { SendResult } from '../../../src/sdk/channel/index.js';
import { MessageWriter, type SessionEvent } from '../../../src/sdk/stream/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { type HostLabOptions, hostLab } from '../../support/host-lab.js';
import { type ScriptedChannel, scriptedChannel } from '../../support/scripted-channel.js';
import { slowly } from '../../support/slowly.js';
import {
  type SenderCall,
  type StreamingChannelOptions,
  streamingChannel,
} from '../../support/streaming-channel.js';
import { end, said, start, toolEnd, toolStart } from '../../support/turn-lab.js';

const at = { extensionId: 'test', family: 'egress.preparing' } as const;
const terminal = ['egress.sent', 'egress.cancelled', 'egress.failed'];

interface LabOptions extends HostLabOptions {
  readonly events?: () => Iterable<SessionEvent>;
  readonly stream?: StreamingChannelOptions;
  /** Channels beside the one that streams. */
  readonly others?: readonly ScriptedChannel[];
}

async function labOf({ events, stream, others = [], ...options }: LabOptions = {}) {
  const clock = virtualClock();
  const channel = streamingChannel(stream);
  const hello = () => [start, ...said('Hello world'), end()];
  const lab = await hostLab({
    channel,
    clock,
    channels: [options.channel ?? channel, ...others],
    agents: [{ id: 'main', provider: slowly(clock, events ?? hello) }],
    ...options,
  });
  return Object.assign(lab, { stream: channel });
}

type Lab = Awaited<ReturnType<typeof labOf>>;

async function answer(lab: Lab) {
  const saying = lab.say('hi');
  await lab.clock.advance(10_000);
  return saying;
}

/** How each prepared send ended, as `kind terminal`. */
const endings = (lab: Lab): string[] =>
  lab.outcomes
    .filter(({ event }) => terminal.includes(event.family))
    .map(({ event }) => `${(event.payload as { kind: string }).kind} ${event.family}`);

describe('a reply in a channel that streams', () => {
  it('is shown while it grows, and is one send: judged twice, ended once (§14.6, §14.8)', async () => {
    await using lab = await labOf();
    const saying = lab.say('hi');
    await lab.clock.advance(50); // four characters came, and four more
    expect(lab.stream.screen).toEqual([{ by: 'preview', text: 'Hello wo' }]);
    expect(lab.of('egress.sent')).toEqual([]);
    await lab.clock.advance(10_000);
    expect(await saying).toMatchObject({
      status: 'answered',
      sends: [{ status: 'sent', receipt: { messageId: 'stream-1' } }],
    });
    expect(lab.stream.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
    expect(lab.stream.calls).toEqual([
      '1 content Hell',
      '1 content Hello wo',
      '1 content Hello world',
      '1 final Hello world',
    ]);
    const [opening, final] = lab.of('egress.preparing').map(({ event }) => event);
    expect(opening?.payload).toMatchObject({
      kind: 'stream-opening',
      streaming: true,
      content: 'Hell',
    });
    expect(final?.payload).toMatchObject({
      kind: 'stream-final',
      streaming: false,
      content: 'Hello world',
      openedBy: opening?.eventId,
    });
    expect(final?.correlationId).toBe(opening?.correlationId);
    expect(lab.of('egress.sending').map(({ payload }) => payload.kind)).toEqual([
      'stream-opening',
      'stream-final',
    ]);
    expect(endings(lab)).toEqual(['stream-final egress.sent']);
    expect(lab.of('egress.sent')[0]?.payload).toMatchObject({
      openedBy: opening?.eventId,
      receipt: { messageId: 'stream-1' },
    });
  });

  it('is finalised before a tool runs, and the next message begins a stream of its own', async () => {
    const screens: unknown[] = [];
    await using lab = await labOf({
      events: () => [
        start,
        ...said('Let me look.', { calls: [{ id: 't', name: 'read' }] }),
        toolStart('t'),
        toolEnd('t'),
        ...said('It is empty.'),
        end(),
      ],
      contribute: (kernel) =>
        kernel.contribute({
          ...{ extensionId: 'test', id: 'probe', family: 'agent.tool.calling', class: 'veto' },
          handler: () => void screens.push([...lab.stream.screen]),
        }),
    });
    expect((await answer(lab)).status).toBe('answered');
    expect(screens).toEqual([[{ by: 'final', text: 'Let me look.' }]]);
    expect(lab.stream.screen).toEqual([
      { by: 'final', text: 'Let me look.' },
      { by: 'final', text: 'It is empty.' },
    ]);
    expect(endings(lab)).toEqual(['stream-final egress.sent', 'stream-final egress.sent']);
  });

  it('of two messages without a tool between, the first is final before the second shows', async () => {
    await using lab = await labOf({
      events: () => [start, ...said('One.'), ...said('Two.'), end()],
    });
    await answer(lab);
    expect(lab.stream.everShown.map(({ by, text }) => `${by} ${text}`)).toEqual([
      'preview One.',
      'final One.',
      'preview Two.',
      'final Two.',
    ]);
  });

  it('is not shown where it is, or may become, NO_REPLY', async () => {
    await using lab = await labOf({ events: () => [start, ...said('NO_REPLY'), end()] });
    expect((await answer(lab)).status).toBe('silent');
    expect(lab.stream.everShown).toEqual([]);
    expect(endings(lab)).toEqual([]);
  });

  it('is taken back where it came to nothing, with one end: a cancel without an author (§14.8)', async () => {
    const args = { action: 'send', to: 'ada', message: 'The answer is forty-two.' };
    const tool = { toolCallId: 't', toolName: 'message' } as const;
    await using lab = await labOf({
      events: () => [
        start,
        ...said('', { calls: [{ id: 't', name: 'message' }] }),
        { type: 'tool_execution_start', ...tool, args },
        { type: 'tool_execution_end', ...tool, result: { ok: true }, isError: false },
        ...said('The answer is forty-two.'), // the tool has said so: no block of it is handed over
        end(),
      ],
    });
    expect((await answer(lab)).status).toBe('silent');
    expect(lab.stream.everShown.length).toBeGreaterThan(0);
    expect(lab.stream.screen).toEqual([]);
    expect(endings(lab)).toEqual(['stream-opening egress.cancelled']);
    expect(lab.of('egress.cancelled')[0]?.payload.cancel).toEqual({
      code: 'withdrawn',
      text: 'the agent took it back',
    });
  });

  it('is taken back where its text turned out to be a thought, before the answer shows (§14.8)', async () => {
    const writer = new MessageWriter({ provider: 'p', model: 'm' });
    await using lab = await labOf({
      events: () => [
        start,
        ...[...writer.grow('text', 'She greets me.'), ...writer.rethink(), ...writer.end()],
        ...[...writer.grow('text', 'Hi!'), ...writer.end()],
        end(),
      ],
    });
    expect((await answer(lab)).status).toBe('answered');
    expect(lab.stream.calls).toEqual([
      '1 content She greets me.',
      '1 abort',
      '2 content Hi!',
      '2 final Hi!',
    ]);
    expect(lab.stream.screen).toEqual([{ by: 'final', text: 'Hi!' }]);
    expect(endings(lab)).toEqual(['stream-opening egress.cancelled', 'stream-final egress.sent']);
  });
});

describe('a channel without streaming, and one of an agent that cuts blocks', () => {
  it('gets each message whole, as it always did', async () => {
    const channel = scriptedChannel();
    await using lab = await labOf({ channel });
    await answer(lab);
    expect(channel.sent).toMatchObject([
      { kind: 'reply', content: 'Hello world', streaming: false },
    ]);
    expect(lab.of('egress.preparing')).toHaveLength(1);
  });

  it('is not shown parts where a message becomes several blocks', async () => {
    await using lab = await labOf({ replies: { blockReplyBreak: 'text_end' } });
    await answer(lab);
    expect(lab.stream.calls).toEqual([]);
    expect(lab.stream.screen).toEqual([{ by: 'send', text: 'Hello world' }]);
  });
});

describe("a handler without preview: 'ok' (§14.7)", () => {
  it.each(['veto', 'mutator'] as const)(
    'that is a %s: nothing is shown before the final',
    async (name) => {
      await using lab = await labOf({
        contribute: (kernel) =>
          kernel.contribute(
            name === 'veto'
              ? { ...at, id: 'judge', class: name, handler: () => allow() }
              : { ...at, id: 'judge', class: name, handler: () => ({ content: 'HELLO' }) },
          ),
      });
      await answer(lab);
      expect(lab.stream.calls).toEqual([]);
      expect(lab.stream.screen).toMatchObject([{ by: 'send' }]);
      expect(lab.of('egress.preparing')).toMatchObject([
        { payload: { kind: 'reply', streaming: false } },
      ]);
    },
  );

  it('that comes while a reply grows stops it from growing', async () => {
    await using lab = await labOf();
    const saying = lab.say('hi');
    await lab.clock.advance(45);
    lab.kernel.contribute({ ...at, id: 'late', class: 'veto', handler: () => allow() });
    await lab.clock.advance(10_000);
    await saying;
    expect(lab.stream.calls.map((call) => call.split(' ')[1])).toEqual(['content', 'final']);
    expect(lab.stream.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
  });

  it('is no hindrance where it has declared it; the final shows what it made of the whole', async () => {
    await using lab = await labOf({
      contribute: (kernel) => {
        kernel.contribute({
          ...{ ...at, id: 'shout', class: 'mutator', preview: 'ok' },
          handler: ({ payload }) => ({ content: payload.content.toUpperCase() }),
        });
      },
    });
    await answer(lab);
    expect(lab.stream.everShown[0]).toEqual({ by: 'preview', text: 'Hell' });
    expect(lab.stream.screen).toEqual([{ by: 'final', text: 'HELLO WORLD' }]);
  });
});

describe('a cancel', () => {
  const cancelling = (kind: string) => (kernel: Kernel) =>
    kernel.contribute({
      ...{ ...at, id: 'no', class: 'veto', preview: 'ok' },
      handler: ({ payload }) => (payload.kind === kind ? cancel('policy') : allow()),
    });

  it('at the opening: nothing is shown, and the reply ends there (§14.8)', async () => {
    await using lab = await labOf({ contribute: cancelling('stream-opening') });
    expect(await answer(lab)).toMatchObject({ status: 'cancelled', reason: 'test/no: policy' });
    expect(lab.stream.everShown).toEqual([]);
    expect(lab.of('egress.preparing')).toHaveLength(1);
    expect(endings(lab)).toEqual(['stream-opening egress.cancelled']);
  });

  it('at the final: what was shown is taken back (§14.8)', async () => {
    const screens: unknown[] = [];
    const contribute = (kernel: Kernel) => {
      cancelling('stream-final')(kernel);
      kernel.contribute({
        ...{ extensionId: 'test', id: 'probe', family: 'egress.cancelled', class: 'observer' },
        handler: () => void screens.push([...lab.stream.screen]),
      });
    };
    const lab = await labOf({ contribute });
    await using _lab = lab;
    expect((await answer(lab)).status).toBe('cancelled');
    expect(lab.stream.everShown.length).toBeGreaterThan(0);
    expect(lab.stream.screen).toEqual([]);
    expect(screens, 'it is gone when its end is told').toEqual([[]]);
    expect(lab.stream.calls.at(-1)).toBe('1 abort');
    expect(endings(lab)).toEqual(['stream-final egress.cancelled']);
  });
});

describe('an abort', () => {
  it('takes back what was shown, and the send ends as failed (§14.8)', async () => {
    await using lab = await labOf();
    const saying = lab.say('hi');
    await lab.clock.advance(50);
    expect(lab.stream.screen).toHaveLength(1);
    lab.host.abortTurns();
    await lab.clock.advance(10_000);
    expect(await saying).toMatchObject({ status: 'aborted', sends: [{ status: 'failed' }] });
    expect(lab.stream.screen).toEqual([]);
    expect(endings(lab)).toEqual(['stream-opening egress.failed']);
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'aborted' });
  });
});

describe('a sender that fails', () => {
  const failing = (
    call: SenderCall,
    options: StreamingChannelOptions = {},
  ): StreamingChannelOptions => ({
    ...options,
    before: (name) => {
      if (name === call) throw new Error('no route to host');
    },
  });

  it.each([
    ['that cannot be made', { createThrows: true }],
    ['at a part', failing('content')],
    ['at its final, before it has taken the permit', failing('final')],
  ] satisfies [string, StreamingChannelOptions][])(
    '%s: the reply goes out by send, once (§14.9), and the text is a field of the log entry (M3, §20.3)',
    async (_, stream) => {
      await using lab = await labOf({ stream });
      expect((await answer(lab)).status).toBe('answered');
      const whole = lab.stream.everShown.filter(({ by }) => by !== 'preview');
      expect(whole).toEqual([{ by: 'send', text: 'Hello world' }]);
      expect(lab.stream.screen).toEqual(whole);
      expect(endings(lab)).toEqual(['stream-final egress.sent']);
      expect(lab.log.messages().join()).not.toMatch(/no route to host|no renderer/);
      const told = lab.log.entries.filter(({ level }) => level === 'error');
      expect(told.map(({ fields }) => String(fields['error'] ?? fields['detail'])).join()).toMatch(
        /no route to host|no renderer/,
      );
    },
  );

  it('that cannot take back what it has shown: the reply goes out all the same (§14.9)', async () => {
    const before = (call: SenderCall): void => {
      if (call !== 'final') throw new Error('no route to host');
    };
    await using lab = await labOf({ stream: { before } });
    expect((await answer(lab)).status).toBe('answered');
    expect(lab.stream.screen.at(-1)).toEqual({ by: 'send', text: 'Hello world' });
    expect(lab.stream.calls).not.toContain('1 final Hello world');
  });

  it('that hangs at a part is given up in time, and the reply goes out by send (§14.9)', async () => {
    const stream = { before: (call: SenderCall) => hangAt(call, 'content') };
    await using lab = await labOf({ stream, budgets: { sendTimeoutMs: 1_000 } });
    expect((await answer(lab)).status).toBe('answered');
    expect(lab.stream.screen).toEqual([{ by: 'send', text: 'Hello world' }]);
  });

  it('that is late with its final cannot show it beside the send (§14.9)', async () => {
    const stream = {
      before: (call: SenderCall) =>
        call === 'final'
          ? new Promise<void>((resolve) => lab.clock.setTimeout(resolve, 5_000))
          : undefined,
    };
    const lab = await labOf({ stream, budgets: { sendTimeoutMs: 1_000 } });
    await using _lab = lab;
    expect((await answer(lab)).status).toBe('answered');
    expect(lab.stream.screen).toEqual([{ by: 'send', text: 'Hello world' }]);
  });

  it('that ignores its final has not sent it, and nothing is sent in its place (§14.9)', async () => {
    await using lab = await labOf({ stream: { ignoresFinal: true } });
    expect((await answer(lab)).status).toBe('failed');
    expect(endings(lab)).toEqual(['stream-final egress.failed']);
    expect(lab.of('egress.failed')[0]?.payload.error).toMatch(/took no message from the permit/);
    expect(lab.stream.everShown.filter(({ by }) => by === 'send')).toEqual(
      [{ by: 'send', text: expect.stringContaining('could not be answered') as string }].slice(1),
    );
  });

  it.each<[SendResult, string]>([
    [{ status: 'rejected', reason: 'blocked' }, 'rejected'],
    [{ status: 'ambiguous', reason: 'lost' }, 'ambiguous'],
  ])('that reports %o has not sent it, and it is not sent again (§14.3)', async (result, cause) => {
    await using lab = await labOf({ stream: { report: () => result } });
    expect((await answer(lab)).status).toBe('failed');
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause, kind: 'stream-final' });
    expect(lab.texts()).toEqual([]);
  });

  it('that is asked to wait is followed by a send, when the time has passed (§14.3)', async () => {
    const report = (): SendResult => ({ status: 'retry-after', retryAfterMs: 3_000 });
    await using lab = await labOf({ stream: { report } });
    const saying = lab.say('hi');
    await lab.clock.advance(2_000);
    expect(lab.texts()).toEqual([]);
    await lab.clock.advance(3_000);
    expect((await saying).sends).toMatchObject([{ status: 'sent', attempts: 2 }]);
    expect(lab.texts()).toEqual(['Hello world']);
  });

  it('that reports nothing has sent it where it took the permit, with an empty receipt (§14.9)', async () => {
    await using lab = await labOf({ stream: { report: () => undefined } });
    expect((await answer(lab)).status).toBe('answered');
    expect(lab.of('egress.sent')[0]?.payload.receipt).toEqual({});
  });
});

describe('a final that does not fit its stream (§14.9)', () => {
  it('for it goes elsewhere: it goes out by send, and what was shown is taken back', async () => {
    const pager = scriptedChannel({ id: 'pager' });
    await using lab = await labOf({
      others: [pager],
      contribute: (kernel) =>
        kernel.contribute({
          ...{ ...at, id: 'elsewhere', class: 'resolver' },
          handler: ({ payload }) =>
            payload.kind === 'stream-final'
              ? select({ channel: 'pager', accountId: 'default' }, { explicit: true })
              : null,
        }),
    });
    expect((await answer(lab)).status).toBe('answered');
    expect(pager.sent).toMatchObject([{ kind: 'stream-final', content: 'Hello world' }]);
    expect(lab.stream.everShown.length).toBeGreaterThan(0);
    expect(lab.stream.screen).toEqual([]);
    expect(endings(lab)).toEqual(['stream-final egress.sent']);
  });

  it('for it has files: it goes out by send', async () => {
    await using lab = await labOf({
      contribute: (kernel) =>
        kernel.contribute({
          ...{ ...at, id: 'file', class: 'mutator', preview: 'ok' },
          handler: () => ({ attachments: [{ kind: 'image', url: 'https://acme.test/a.png' }] }),
        }),
    });
    await answer(lab);
    expect(lab.stream.screen).toEqual([{ by: 'send', text: 'Hello world' }]);
  });

  it('for its opening went to a channel that shows no parts: it goes out by send there', async () => {
    const pager = scriptedChannel({ id: 'pager' });
    await using lab = await labOf({
      others: [pager],
      contribute: (kernel) =>
        kernel.contribute({
          ...{ ...at, id: 'elsewhere', class: 'resolver' },
          handler: () => select({ channel: 'pager', accountId: 'default' }, { explicit: true }),
        }),
    });
    await answer(lab);
    expect(pager.sent).toHaveLength(1);
    expect(lab.stream.calls).toEqual([]);
    expect(endings(lab)).toEqual(['stream-final egress.sent']);
  });
});

describe('a slow sender', () => {
  it('is shown the newest text, and no more often than it can take; the final is not lost (§14.10)', async () => {
    const stream = {
      before: (call: SenderCall) =>
        call === 'content'
          ? new Promise<void>((resolve) => lab.clock.setTimeout(resolve, 45))
          : undefined,
    };
    const text = 'abcd'.repeat(20);
    const lab = await labOf({ stream, events: () => [start, ...said(text), end()] });
    await using _lab = lab;
    await answer(lab);
    const parts = lab.stream.calls.filter((call) => call.includes('content'));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.length).toBeLessThan(8);
    expect(lab.stream.screen).toEqual([{ by: 'final', text }]);
  });
});

describe('reasoning', () => {
  const thinks = () => [start, ...said('Lima.', { thinking: 'Where is it?' }), end()];

  it('grows in mode stream, as a reply of its own before the answer', async () => {
    await using lab = await labOf({ events: thinks, replies: { reasoningMode: 'stream' } });
    expect((await answer(lab)).status).toBe('answered');
    expect(lab.stream.calls[0]).toMatch(/^1 thinking .*Wher/s);
    expect(lab.stream.screen).toMatchObject([
      { by: 'final', text: expect.stringContaining('Where is it?') as string },
      { by: 'final', text: 'Lima.' },
    ]);
    expect(endings(lab)).toEqual(['reasoning egress.sent', 'stream-final egress.sent']);
    expect(lab.of('egress.preparing')[0]?.payload).toMatchObject({
      kind: 'reasoning',
      streaming: true,
    });
  });

  it.each(['off', 'on'] as const)('does not grow in mode %s', async (reasoningMode) => {
    await using lab = await labOf({ events: thinks, replies: { reasoningMode } });
    await answer(lab);
    expect(lab.stream.calls.filter((call) => call.includes('thinking'))).toEqual([]);
  });
});

function hangAt(call: SenderCall, at: SenderCall): Promise<never> | undefined {
  return call === at ? new Promise<never>(() => undefined) : undefined;
}
