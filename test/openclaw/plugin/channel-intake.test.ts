import { getEventListeners, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import { cancel, type Kernel, select } from '../../../src/kernel/internal.js';
import type { LegacyAccountContext, LegacyPlugin } from '../../../src/openclaw/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { collectingLogger, virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { mortalJournal } from '../../support/mortal-journal.js';
import { postOffice } from './channel-lab.js';

const quiet = (kernel: Kernel): void =>
  void kernel.contribute({
    ...{ family: 'egress.preparing', class: 'veto', extensionId: 'quiet', id: 'quiet' },
    handler: ({ payload }) => (payload.content.includes('secret') ? cancel('policy') : undefined),
  });

describe('a channel of a plugin takes in (event-pipeline §17.19)', () => {
  it('what a dispatcher hands over passes the stages, and its own code delivers the reply', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load });
    const more = {
      MessageSid: 'm1',
      SenderName: 'Ada',
      BodyForAgent: 'hello, model',
      Timestamp: 7,
    };
    const result = await post.bring('hello', more);
    expect(result).toEqual({ queuedFinal: true, counts: { tool: 0, block: 0, final: 1 } });
    expect(post.delivered).toEqual([['hello, model', 'final']]);
    expect(post.sent).toEqual([]);
    expect(lab.of('ingress.normalized')[0]?.payload).toMatchObject({
      ...{ channel: 'post', accountId: 'default', from: 'post:ada', content: 'hello' },
      ...{ body: '[post] hello', promptText: 'hello, model', conversationId: 'post:ada' },
      ...{ messageId: 'm1', isGroup: false, sentAtMs: 7, sessionKey: 'agent:main:main' },
      ...{ sender: { id: 'ada', name: 'Ada' }, commandAuthorized: true },
    });
    expect(lab.of('routing.resolved')[0]?.payload.sessionKey).toBe('agent:main:post:ada');
    expect(lab.of('egress.sent')).toHaveLength(1);
    expect(post.called).toEqual(['start', 'idle']);
  });

  it('so does a dispatcher that is made first and dispatched with afterwards', async () => {
    const post = postOffice();
    await using _lab = await hostLab({ loadPlugins: post.load });
    expect(await post.bringTyped('hi')).toMatchObject({ counts: { final: 1 } });
    expect(post.delivered).toEqual([['hi', 'final']]);
    expect(post.called).toEqual(['start', 'settled']);
  });

  it('a reply that a veto has cancelled is not delivered, and the dispatcher goes on', async () => {
    const post = postOffice();
    await using _lab = await hostLab({ loadPlugins: post.load, contribute: quiet });
    const result = await post.bring('a secret');
    expect(result).toEqual({ queuedFinal: false, counts: { tool: 0, block: 0, final: 0 } });
    expect(post.delivered).toEqual([]);
  });

  it('a reply that goes to another address goes out by outbound.sendText', async () => {
    const post = postOffice();
    const elsewhere = (kernel: Kernel): void =>
      void kernel.contribute({
        ...{ family: 'egress.preparing', class: 'resolver', extensionId: 'x', id: 'x' },
        handler: () =>
          select({ channel: 'post', accountId: 'default', to: 'post:bob' }, { explicit: true }),
      });
    await using _lab = await hostLab({ loadPlugins: post.load, contribute: elsewhere });
    await post.bring('hello');
    expect(post.delivered).toEqual([]);
    expect(post.sent).toEqual([['post:bob', 'hello']]);
  });

  it('a delivery that throws leaves a send that nobody knows the end of', async () => {
    const post = postOffice({
      deliver: () => {
        throw new Error('a hawk took it');
      },
    });
    await using lab = await hostLab({ loadPlugins: post.load });
    await post.bring('hello');
    expect(lab.of('egress.failed')[0]?.payload).toMatchObject({ cause: 'ambiguous', attempts: 1 });
    expect(post.called).toContain('error Error: a hawk took it');
  });

  it('a send that a dispatcher made elsewhere does not take has failed', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load });
    const no = (): boolean => false;
    const dispatcher = { sendToolResult: no, sendBlockReply: no, sendFinalReply: no };
    const ctx = { Body: 'hi', From: 'post:ada', Provider: 'post', AccountId: 'default' };
    await post.channel()['reply']?.['dispatchReplyFromConfig']?.({
      ctx,
      dispatcher: { ...dispatcher, waitForIdle: async () => undefined },
    } as never); // as a plugin calls it, untyped
    expect(lab.ends[0]?.sends).toMatchObject([
      { status: 'failed', error: expect.stringContaining('takes no such reply') },
    ]);
  });

  it('an onError that rejects is told, and ends nothing', async () => {
    const logger = collectingLogger();
    const post = postOffice({
      logger,
      deliver: () => {
        throw new Error('the line is cut');
      },
      onError: () => Promise.reject(new Error('and so am I')),
    });
    await using lab = await hostLab({ loadPlugins: post.load });
    await post.bring('hello');
    expect(lab.ends[0]?.sends).toMatchObject([{ error: expect.stringContaining('is cut') }]);
    expect(logger.entries.map(({ message }) => message)).toContain(
      'post: a callback of its reply dispatcher failed',
    );
  });

  it('accounts whose names differ only in case are one, as in OpenClaw, and the log says so', async () => {
    const logger = collectingLogger();
    const listAccountIds = () => ['Main', 'main', 'second'];
    const post = postOffice({ logger, members: { config: { listAccountIds } } });
    await using lab = await hostLab({ loadPlugins: post.load });
    await post.bring('hello', { AccountId: 'main' });
    expect(lab.ends.map(({ accountId }) => accountId)).toEqual(['Main']);
    expect(post.started.map(({ accountId }) => accountId)).toEqual(['Main', 'second']);
    expect(logger.entries).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining({ kept: ['Main', 'second'] }) }),
    );
  });

  it('a dispatcher goes on if the start of the host fails while it waits', async () => {
    let brought: Promise<unknown> = Promise.resolve();
    const post = postOffice({
      run: ({ abortSignal }) => {
        brought = post.bring('too early').catch((error: unknown) => error);
        return once(abortSignal, 'abort');
      },
    });
    const broken = (kernel: Kernel): readonly LegacyPlugin[] => {
      const plugins = post.load(kernel);
      const start = () => Promise.reject(new Error('no start'));
      return plugins.map((plugin) => ({ ...plugin, start }));
    };
    await expect(hostLab({ loadPlugins: broken })).rejects.toThrow('no start');
    expect(await brought).toMatchObject({ code: 'channel-closed' });
  });

  it('a message that comes twice is answered once', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load, journal: memoryJournal() });
    const brought = [
      post.bring('hello', { MessageSid: 'm1' }),
      post.bring('hello', { MessageSid: 'm1' }),
    ];
    await Promise.all(brought);
    expect(await post.bring('hello', { MessageSid: 'm1' })).toMatchObject({ queuedFinal: false });
    expect(post.delivered).toEqual([['hello', 'final']]);
    expect(lab.ends).toHaveLength(1);
  });

  it('a message that comes twice at once is refused twice if the journal cannot keep it', async () => {
    const post = postOffice();
    const journal = memoryJournal();
    const accept = () => Promise.reject(new Error('the disk is full'));
    await using _lab = await hostLab({ loadPlugins: post.load, journal: { ...journal, accept } });
    const brought = [1, 2].map(() => post.bring('hello', { MessageSid: 'm1' }));
    const refused = { status: 'rejected', reason: { code: 'channel-closed' } };
    expect(await Promise.allSettled(brought)).toMatchObject([refused, refused]);
  });

  it('a reply that goes out by another account is not delivered by the code of the first', async () => {
    const config = { listAccountIds: () => ['a', 'b'], resolveAccount: () => ({}) };
    const post = postOffice({ members: { config } });
    const byOther = (kernel: Kernel): void =>
      void kernel.contribute({
        ...{ family: 'egress.preparing', class: 'resolver', extensionId: 'x', id: 'x' },
        handler: () =>
          select({ channel: 'post', accountId: 'b', to: 'post:ada' }, { explicit: true }),
      });
    await using _lab = await hostLab({ loadPlugins: post.load, contribute: byOther });
    await post.bring('hello', { AccountId: 'a' });
    expect(post.delivered).toEqual([]);
    expect(post.sent).toEqual([['post:ada', 'hello']]);
  });

  it('a callback that never ends holds no message back', async () => {
    const post = postOffice({ onReplyStart: () => new Promise(() => undefined) });
    await using _lab = await hostLab({ loadPlugins: post.load });
    expect(await post.bring('hello')).toMatchObject({ counts: { final: 1 } });
    expect(post.delivered).toEqual([['hello', 'final']]);
  });

  it('a reply goes out under no message if the channel cannot say whether it has one', async () => {
    const resolveReplyToMode = (): never => {
      throw new Error('no mode');
    };
    const post = postOffice({ members: { threading: { resolveReplyToMode } } });
    await using _lab = await hostLab({ loadPlugins: post.load });
    await post.bring('hello', { MessageSid: 'm1' });
    expect(post.delivered).toEqual([['hello', 'final']]);
  });

  it('a binding of the configuration sends a message to its agent, in the session that the plugin names', async () => {
    const config = {
      bindings: [{ agentId: 'main', match: { channel: 'post' } }],
      agents: { list: [{ id: 'other' }, { id: 'main' }] },
    };
    const post = postOffice({ config });
    await using lab = await hostLab({ loadPlugins: post.load });
    await post.bring('hello', { SessionKey: 'agent:main:post:direct:ada' });
    expect(lab.of('routing.resolved')[0]?.payload).toMatchObject({
      ...{ agentId: 'main', sessionKey: 'agent:main:post:direct:ada', explicit: true },
    });
  });

  it('what no host takes is refused by name', async () => {
    const post = postOffice();
    const lab = await hostLab({ loadPlugins: post.load });
    await lab[Symbol.asyncDispose]();
    await expect(post.bring('hello')).rejects.toMatchObject({ code: 'channel-closed' });
  });
});

describe('after the end of its host (event-pipeline §17.20)', () => {
  it('a message that was kept and not answered is answered once, by outbound.sendText', async () => {
    const journal = memoryJournal();
    const mortal = mortalJournal(journal);
    const first = postOffice();
    const { provider, reached } = hanging();
    const agents = [{ id: 'main', provider }];
    await hostLab({ loadPlugins: first.load, journal: mortal, agents });
    void first.bring('are you there?', { MessageSid: 'm1' });
    await reached;
    mortal.kill();
    const second = postOffice();
    await using next = await hostLab({ loadPlugins: second.load, journal });
    await vi.waitFor(() => expect(next.ends).toHaveLength(1), 60_000);
    expect(second.sent).toEqual([['post:ada', 'are you there?']]);
    const again = await second.bring('are you there?', { MessageSid: 'm1' });
    expect(again).toMatchObject({ queuedFinal: false });
    expect([first.delivered, first.sent, second.delivered, second.sent.length]).toEqual([
      [],
      [],
      [],
      1,
    ]);
  });

  it('a message that its provider brings again is answered by the new code of the plugin', async () => {
    const post = postOffice();
    const { provider, reached } = hanging();
    const journal = memoryJournal();
    const mortal = mortalJournal(journal);
    await hostLab({ loadPlugins: post.load, journal: mortal, agents: [{ id: 'main', provider }] });
    void post.bring('hello', { MessageSid: 'm1' });
    await reached;
    mortal.kill();
    const second = postOffice({
      run: async ({ abortSignal }) => {
        brought = second.bring('hello', { MessageSid: 'm1' });
        await once(abortSignal, 'abort');
      },
    });
    let brought: Promise<unknown> = Promise.resolve();
    await using next = await hostLab({ loadPlugins: second.load, journal });
    await brought;
    expect(next.ends).toHaveLength(1);
    expect(second.delivered.length + second.sent.length).toBe(1);
  });
});

describe('an account of a channel (event-pipeline §17.21)', () => {
  it('is started with the context that OpenClaw gives, and stopped after its sends', async () => {
    const account = { token: 't', enabled: true };
    const config = { listAccountIds: () => ['a', 'b'], resolveAccount: () => account };
    const post = postOffice({ members: { config } });
    const lab = await hostLab({ loadPlugins: post.load });
    expect(post.started.map(({ accountId }) => accountId)).toEqual(['a', 'b']);
    const [context] = post.started;
    expect(context).toMatchObject({ cfg: {}, account, channelRuntime: post.channel() });
    expect(context?.abortSignal.aborted).toBe(false);
    context?.setStatus({ lastInboundAt: 7 });
    expect(context?.getStatus()).toMatchObject({ accountId: 'a', running: true, lastInboundAt: 7 });
    await post.bring('hello', { AccountId: 'b' });
    expect(lab.of('ingress.received')[0]?.payload.accountId).toBe('b');
    await lab[Symbol.asyncDispose]();
    expect(context?.abortSignal.aborted).toBe(true);
    expect(post.stopped).toEqual(['a', 'b']);
  });

  it('that ends by itself is started again after 5, 10 and 20 seconds, and is told', async () => {
    const clock = virtualClock();
    const logger = collectingLogger();
    const post = postOffice({ logger, run: async () => Promise.reject(new Error('no line')) });
    await using _lab = await hostLab({ loadPlugins: post.load, clock });
    for (const [waitMs, starts] of [
      [4_999, 1],
      [1, 2],
      [9_999, 2],
      [1, 3],
      [20_000, 4],
    ] as const) {
      await clock.advance(waitMs);
      expect(post.started).toHaveLength(starts);
    }
    expect(post.started[0]?.getStatus()).toMatchObject({ lastError: 'no line', running: false });
    expect(logger.messages('warn').filter((line) => line.includes('started again'))).toHaveLength(
      4,
    );
  });

  it('that ends again and again listens to its signal once', async () => {
    const clock = virtualClock();
    const post = postOffice({ run: async () => Promise.reject(new Error('no line')) });
    await using _lab = await hostLab({ loadPlugins: post.load, clock });
    await clock.advance(300_000);
    const [context] = post.started;
    expect(post.started.length).toBeGreaterThan(5);
    expect(getEventListeners(context?.abortSignal as AbortSignal, 'abort')).toHaveLength(1);
  });

  it('that has only registered something runs, and its own stop ends it', async () => {
    const clock = virtualClock();
    const ended: string[] = [];
    const post = postOffice({ run: async () => ({ stop: () => void ended.push('stop') }) });
    const lab = await hostLab({ loadPlugins: post.load, clock });
    await setImmediate();
    await clock.advance(3_600_000);
    expect([post.started.length, post.started[0]?.getStatus()['running'], ended]).toEqual([
      1,
      true,
      [],
    ]);
    expect(lab.host.health().degraded).toEqual([]);
    await lab[Symbol.asyncDispose]();
    expect(ended).toEqual(['stop']);
  });

  it('that ends and is started again is trouble, until it has run well (sight §7.1)', async () => {
    const clock = virtualClock();
    const run = (context: LegacyAccountContext, time: number): Promise<unknown> =>
      time < 3 ? Promise.reject(new Error('no line of Ada')) : once(context.abortSignal, 'abort');
    const post = postOffice({ run });
    await using lab = await hostLab({ loadPlugins: post.load, clock });
    const degraded = () =>
      lab.host.health().degraded.map(({ code, whose, what }) => [code, whose, what]);
    await clock.advance(5_000);
    expect(degraded()).toEqual([
      ['account-degraded', 'post/default', 'it has ended and is started again, 2 times by now'],
    ]);
    await clock.advance(10_000);
    expect([post.started.length, degraded().length]).toEqual([3, 1]);
    await clock.advance(300_001);
    expect(degraded()).toEqual([]);
  });

  it('is given up after 10 restarts, and the host learns that its input has ended', async () => {
    const clock = virtualClock();
    const post = postOffice({ run: async () => Promise.reject(new Error('no line')) });
    await using lab = await hostLab({ loadPlugins: post.load, clock, channels: [] });
    await clock.advance(3_600_000);
    expect(post.started).toHaveLength(11);
    expect(await lab.host.stopped).toMatchObject({ reason: expect.stringContaining('has ended') });
  });

  it.each([
    ['disabled', { resolveAccount: () => ({ enabled: false }) }],
    ['not configured', { resolveAccount: () => ({}), isConfigured: async () => false }],
  ])('that is %s does not start, and the others do', async (reason, config) => {
    const post = postOffice({ members: { config } });
    await using lab = await hostLab({ loadPlugins: post.load });
    expect(post.started).toEqual([]);
    const payload = lab.of('account.stopped')[0]?.payload;
    expect(payload).toMatchObject({ channel: 'post', error: expect.stringContaining(reason) });
  });
});

describe('a message that answers nothing', () => {
  it('goes to the address that outbound.resolveTarget gives, in chunks within the limit of the account', async () => {
    const chunker = (text: string, limit: number): string[] => [
      text.slice(0, limit),
      text.slice(limit),
    ];
    const resolveTarget = ({ to }: { to: string }) =>
      to === '' ? { ok: false, error: new Error('no room') } : { ok: true, to: `#${to}` };
    const config = { channels: { post: { textChunkLimit: 3 } } };
    const outbound = { chunker, textChunkLimit: 100, resolveTarget };
    const post = postOffice({ config, outbound });
    await using lab = await hostLab({ loadPlugins: post.load });
    const place = { channel: 'post', accountId: 'default' };
    await lab.host.send({ ...place, to: 'room', content: 'hello' });
    expect(post.sent).toEqual([
      ['#room', 'hel'],
      ['#room', 'lo'],
    ]);
    const refused = await lab.host.send({ ...place, to: '', content: 'hello' });
    expect(refused).toMatchObject({ status: 'failed', error: expect.stringContaining('no room') });
  });
});

/** An agent that takes a turn and never ends it. */
function hanging() {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const provider: AgentProvider = {
    ...{ id: 'hanging', models: ['m'], toolGate: 'enforce' as const },
    async *run() {
      yield { type: 'agent_start' };
      reach();
      await new Promise(() => undefined);
    },
  };
  return { provider, reached };
}
