import { describe, expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { cancel } from '../../../src/kernel/internal.js';
import { virtualClock } from '../../../src/testing/index.js';
import { type HostLabOptions, hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { slowly } from '../../support/slowly.js';
import {
  type Shown,
  type StreamingChannelOptions,
  streamingChannel,
} from '../../support/streaming-channel.js';
import { end, said, start } from '../../support/turn-lab.js';

interface Options extends Omit<HostLabOptions, 'channel' | 'journal' | 'texts'> {
  readonly stream?: StreamingChannelOptions;
  readonly failing?: Parameters<typeof mortalJournal>[1];
  readonly texts?: readonly string[];
}

/** A host with a channel that streams, and a journal that others have had before it. */
async function streamLab(
  journal: Journal,
  { stream, failing, texts = ['Hello world'], clock = virtualClock(), ...options }: Options = {},
) {
  const mortal = mortalJournal(journal, failing);
  const channel = streamingChannel(stream);
  const events = () => [start, ...texts.flatMap((text) => [...said(text)]), end()];
  const lab = await hostLab({
    journal: mortal,
    clock,
    channel,
    agents: [{ id: 'main', provider: slowly(clock, events) }],
    ...options,
  });
  return Object.assign(lab, { stream: channel, mortal });
}

type Lab = Awaited<ReturnType<typeof streamLab>>;

/** Has a host answer "hi", and kills it at its first write of a kind. */
async function killedAt(
  journal: Journal,
  kind: 'final' | 'sending' | 'endSend' | 'endUpdate',
  options: Options = {},
): Promise<Lab> {
  const host: { lab?: Lab } = {};
  const failing: Options['failing'] = (write) => {
    if (write === kind) host.lab?.mortal.kill();
    return undefined;
  };
  const lab = await streamLab(journal, { failing, ...options });
  host.lab = lab;
  await lab.channel.receive({ text: 'hi' }, '7');
  await lab.clock.advance(10_000);
  return lab;
}

const sendsOf = async (journal: Journal) =>
  (await journal.sends()).map(({ kind, state, cause }) => [kind, state, cause].join(' ').trim());
const updatesOf = async (journal: Journal) =>
  (await journal.updates()).map(({ state, outcome }) => [state, outcome].join(' ').trim());

const terminal = ['egress.sent', 'egress.cancelled', 'egress.failed'];
const endingsOf = (lab: Lab) => lab.families().filter((family) => terminal.includes(family));

async function resumed(journal: Journal, options?: Options): Promise<Lab> {
  const lab = await streamLab(journal, options);
  await lab.clock.advance(10_000);
  return lab;
}

describe('a host that is killed while a streamed reply', () => {
  it('is being shown: that send is given up, and the message is answered anew (durability §7.2, durability §7.4)', async () => {
    const journal = memoryJournal();
    const first = await streamLab(journal);
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(50);
    expect(first.stream.screen).toEqual([{ by: 'preview', text: 'Hello wo' }]);
    first.mortal.kill();
    expect(await sendsOf(journal)).toEqual(['stream-opening prepared']);
    await using second = await resumed(journal);
    expect(await sendsOf(journal)).toEqual(['stream-opening failed ambiguous', 'reply sent']);
    expect(second.stream.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
    expect(endingsOf(second)).toEqual(['egress.failed', 'egress.sent']);
    expect(await updatesOf(journal)).toEqual(['ended answered']);
  });

  it('has its final judged and not yet shown: it goes out, judged once more, and no turn is taken again', async () => {
    const journal = memoryJournal();
    const first = await killedAt(journal, 'sending');
    expect(first.stream.screen).toMatchObject([{ by: 'preview' }]);
    expect(await sendsOf(journal)).toEqual(['reply prepared']);
    const keys: string[] = [];
    await using second = await resumed(journal, {
      stream: {
        send: async (permit, sent) => {
          keys.push(permit.idempotencyKey);
          sent.push(permit.take());
          return { status: 'sent', receipt: {} };
        },
      },
    });
    const [send] = await journal.sends();
    expect(keys).toEqual([`${send?.sendId}-final`]); // as it would have been shown
    expect(second.stream.screen).toEqual([{ by: 'send', text: 'Hello world' }]);
    expect(second.of('agent.starting')).toEqual([]);
    expect(endingsOf(second)).toEqual(['egress.sent']);
    expect(await sendsOf(journal)).toEqual(['reply sent']);
    expect(await updatesOf(journal)).toEqual(['ended answered']);
  });

  it('has its final judged, and that was not kept: it is answered anew', async () => {
    const journal = memoryJournal();
    await killedAt(journal, 'final');
    await using second = await resumed(journal);
    expect(await sendsOf(journal)).toEqual(['stream-opening failed ambiguous', 'reply sent']);
    expect(endingsOf(second)).toEqual(['egress.failed', 'egress.sent']);
  });

  it.each([{ ambiguous: 'resend' }, { ambiguous: 'fail' }] as const)(
    'was shown whole and its end not kept: it is not sent again, whatever the channel declares ($ambiguous)',
    async (resendPolicy) => {
      const journal = memoryJournal();
      const stream = { resendPolicy, deduplicatesSends: true };
      const first = await killedAt(journal, 'endSend', { stream });
      expect(first.stream.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
      expect(await sendsOf(journal)).toEqual(['reply sending']);
      await using second = await resumed(journal, { stream });
      expect(second.stream.everShown).toEqual([]);
      expect(endingsOf(second)).toEqual(['egress.failed']);
      expect(await sendsOf(journal)).toEqual(['reply failed ambiguous']);
      expect(await updatesOf(journal)).toEqual(['dead failed']);
    },
  );

  it('was sent, and its message has not ended: it is not said again (durability §7.3)', async () => {
    const journal = memoryJournal();
    const first = await killedAt(journal, 'endUpdate');
    expect(first.stream.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
    await using second = await resumed(journal);
    expect(second.stream.everShown).toEqual([]);
    expect(second.of('agent.starting')).toEqual([]);
    expect(second.ends).toMatchObject([
      { status: 'answered', sends: [{ content: 'Hello world' }] },
    ]);
    expect(await updatesOf(journal)).toEqual(['ended answered']);
  });

  it('was the first of two: the turn is taken again, and only the second is said (durability §7.4)', async () => {
    const journal = memoryJournal();
    const texts = ['One thing.', 'Another thing.'];
    const first = await streamLab(journal, { texts });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(130);
    expect(first.stream.screen).toMatchObject([{ by: 'final' }, { by: 'preview' }]);
    first.mortal.kill();
    expect(await sendsOf(journal)).toEqual(['block sent', 'stream-opening prepared']);
    await using second = await resumed(journal, { texts });
    expect(second.stream.screen).toEqual([{ by: 'send', text: 'Another thing.' }]);
    expect(await updatesOf(journal)).toEqual(['ended answered']);
  });

  it('is begun as often as it may be: then it is a dead letter that says why (durability §7.5)', async () => {
    const journal = memoryJournal();
    for (let nth = 0; nth < 3; nth++) {
      const lab = await streamLab(journal);
      if (nth === 0) await lab.channel.receive({ text: 'hi' }, '7');
      await lab.clock.advance(nth < 2 ? 50 : 1_050);
      expect(lab.stream.screen).toMatchObject([{ by: 'preview' }]);
      lab.mortal.kill();
    }
    await using last = await resumed(journal);
    expect(last.stream.everShown).toEqual([]);
    expect(await sendsOf(journal)).toEqual(Array(3).fill('stream-opening failed ambiguous'));
    expect(await updatesOf(journal)).toEqual(['dead failed']);
    expect(last.ends).toMatchObject([{ reason: expect.stringMatching(/never came to an end/) }]);
  });
});

describe('a streamed reply in the journal', () => {
  const states = async (lab: Lab, journal: Journal) => ({
    sends: await sendsOf(journal),
    updates: await updatesOf(journal),
    events: endingsOf(lab),
    screen: lab.stream.screen.map(({ by, text }) => `${by} ${text}`),
  });

  it('whose final is cancelled is cancelled, and says by whom (durability §3.1)', async () => {
    const journal = memoryJournal();
    await using lab = await streamLab(journal, {
      contribute: (kernel) =>
        kernel.contribute({
          family: 'egress.preparing',
          class: 'veto',
          extensionId: 'guard',
          id: 'no',
          preview: 'ok',
          handler: ({ payload }) => (payload.streaming ? undefined : cancel('policy')),
        }),
    });
    void lab.say('hi');
    await lab.clock.advance(10_000);
    expect(lab.stream.everShown.length).toBeGreaterThan(0);
    expect(await states(lab, journal)).toEqual({
      sends: ['reply cancelled policy'],
      updates: ['ended cancelled'],
      events: ['egress.cancelled'],
      screen: [],
    });
    expect((await journal.sends())[0]).toMatchObject({ reason: 'guard/no' });
  });

  it('that the journal cannot keep as its final does not go out, and has one end', async () => {
    const journal = memoryJournal();
    await using lab = await streamLab(journal, {
      failing: (write) => (write === 'final' ? new Error('the disk is full') : undefined),
      failureText: () => undefined,
    });
    void lab.say('hi');
    await lab.clock.advance(10_000);
    expect(await states(lab, journal)).toEqual({
      sends: ['stream-opening failed stage-failed'],
      updates: ['dead failed'],
      events: ['egress.failed'],
      screen: [],
    });
  });

  it.each([
    ['', 0],
    [' also if the journal fails then,', 2],
  ])(
    'is stopped by /stop: what was shown is taken back,%s and nothing is left open',
    async (_, at) => {
      const journal = memoryJournal();
      const away = journalError('database-io', { path: 'memory', problem: 'it is away' });
      const failing: Options['failing'] = (write, nth) =>
        write === 'shown' && nth === at ? away : undefined;
      await using lab = await streamLab(journal, { failing });
      void lab.say('hi');
      await lab.clock.advance(50);
      expect(lab.stream.screen).toMatchObject([{ by: 'preview' }]);
      void lab.say('/stop');
      await lab.clock.advance(10_000);
      const { sends, updates, screen } = await states(lab, journal);
      expect(sends).toEqual(['stream-opening failed aborted', 'reply sent']);
      expect(updates).toEqual(['ended aborted', 'ended command']);
      expect(screen).toMatchObject([expect.stringMatching(/^send /)]);
    },
  );

  it.each([
    ['while it grows', 50],
    ['while its final is judged', 100],
  ])('of a host that is stopped %s is left for the next, which answers', async (_, atMs) => {
    const journal = memoryJournal();
    const clock = virtualClock();
    const first = await streamLab(journal, {
      clock,
      contribute: (kernel) =>
        kernel.contribute({
          family: 'egress.preparing',
          class: 'veto',
          extensionId: 'guard',
          id: 'slow',
          preview: 'ok',
          timeoutMs: 60_000,
          handler: async ({ payload, signal }) => {
            if (payload.streaming) return;
            await new Promise<void>((resolve) => {
              clock.setTimeout(resolve, 30_000);
              signal.addEventListener('abort', () => resolve());
            });
          },
        }),
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await clock.advance(atMs);
    expect(first.stream.screen).toMatchObject([{ by: 'preview' }]);
    const stopping = first.host.stop({ timeoutMs: 10 });
    await clock.advance(20_000);
    await stopping;
    expect(first.stream.screen).toEqual([]);
    expect(endingsOf(first)).toEqual(['egress.failed']);
    expect(await updatesOf(journal)).toEqual(['handling']);
    await using second = await resumed(journal);
    expect(await updatesOf(journal)).toEqual(['ended answered']);
    expect(second.stream.screen).toEqual([{ by: 'final', text: 'Hello world' }]);
    expect(endingsOf(second)).toEqual(['egress.sent']);
  });
});

describe('M9: a preview that a host has left, on a channel that can end it (durability §7.2)', () => {
  const previewing = (screen: Shown[], takesBack?: () => boolean): Options => ({
    stream: { endsPreviews: { screen, ...(takesBack !== undefined && { takesBack }) } },
  });
  const refusing: Options['contribute'] = (kernel) => {
    kernel.contribute({
      ...{
        family: 'egress.preparing',
        class: 'veto',
        extensionId: 'test',
        id: 'no',
        preview: 'ok',
      },
      handler: () => cancel('policy'),
    });
  };
  /** A host that has died while it showed "Hello wo". */
  async function growing(journal: Journal, screen: Shown[]): Promise<void> {
    const first = await streamLab(journal, previewing(screen));
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(50);
    first.mortal.kill();
    expect(screen).toEqual([{ by: 'preview', text: 'Hello wo' }]);
  }

  it('M9: that still grew is taken back, and the message is answered once', async () => {
    const [journal, screen] = [memoryJournal(), [] as Shown[]];
    await growing(journal, screen);
    await using second = await resumed(journal, previewing(screen));
    expect(second.stream.calls[0]).toBe('takeBack');
    expect(screen).toEqual([{ by: 'final', text: 'Hello world' }]);
    expect(await sendsOf(journal)).toEqual(['stream-opening failed aborted', 'reply sent']);
    expect(endingsOf(second)).toEqual(['egress.failed', 'egress.sent']);
    expect(await updatesOf(journal)).toEqual(['ended answered']);
  });

  it('M9: that still grew and cannot be taken back is ambiguous, and the message is answered', async () => {
    const [journal, screen] = [memoryJournal(), [] as Shown[]];
    await growing(journal, screen);
    await using second = await resumed(
      journal,
      previewing(screen, () => false),
    );
    expect(await sendsOf(journal)).toEqual(['stream-opening failed ambiguous', 'reply sent']);
    expect(second.log.entries.map(({ message }) => message)).toContain(
      'what a send has shown could not be taken back',
    );
  });

  it.each(['sending', 'endSend'] as const)(
    'M9: of a final becomes that final where the host died before "%s", and no turn is taken again',
    async (kind) => {
      const [journal, screen] = [memoryJournal(), [] as Shown[]];
      await killedAt(journal, kind, previewing(screen));
      await using second = await resumed(journal, previewing(screen));
      expect(second.stream.calls).toEqual(['complete Hello world']);
      expect(screen).toEqual([{ by: 'final', text: 'Hello world' }]);
      expect(second.of('agent.starting')).toEqual([]);
      expect(endingsOf(second)).toEqual(['egress.sent']);
      expect(await sendsOf(journal)).toEqual(['reply sent']);
      expect(await updatesOf(journal)).toEqual(['ended answered']);
    },
  );

  it.each(['sending', 'endSend'] as const)(
    'M9: of a final that is vetoed today is taken back (the host died before "%s")',
    async (kind) => {
      const [journal, screen] = [memoryJournal(), [] as Shown[]];
      await killedAt(journal, kind, previewing(screen));
      await using second = await resumed(journal, {
        ...previewing(screen),
        contribute: refusing,
      });
      expect(second.stream.calls).toEqual(['takeBack']);
      expect(screen).toEqual([]);
      expect(endingsOf(second)).toEqual(['egress.cancelled']);
      expect(await sendsOf(journal)).toEqual(['reply cancelled policy']);
    },
  );

  it('M9: of a final that is vetoed today, and cannot be taken back, is ambiguous', async () => {
    const [journal, screen] = [memoryJournal(), [] as Shown[]];
    await killedAt(journal, 'endSend', previewing(screen));
    await using second = await resumed(journal, {
      ...previewing(screen, () => false),
      contribute: refusing,
    });
    expect(endingsOf(second)).toEqual(['egress.failed']);
    expect(await sendsOf(journal)).toEqual(['reply failed ambiguous']);
  });

  it('M9: says nothing any more of a final that went on by send: that is not sent again', async () => {
    const [journal, screen] = [memoryJournal(), [] as Shown[]];
    const before: StreamingChannelOptions['before'] = (call) => {
      if (call === 'final') throw new Error('no');
    };
    const stream = { ...previewing(screen).stream, before };
    const first = await streamLab(journal, {
      stream: { ...stream, send: () => new Promise(() => undefined) },
    });
    await first.channel.receive({ text: 'hi' }, '7');
    await first.clock.advance(10_000);
    expect(await journal.sends()).toMatchObject([{ state: 'sending', shown: 'null' }]);
    first.mortal.kill();
    await using second = await resumed(journal, previewing(screen));
    expect(second.stream.calls).toEqual([]);
    expect(await sendsOf(journal)).toEqual(['reply failed ambiguous']);
  });
});
