import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { createTestKernel } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { type PostOffice, postOffice } from './channel-lab.js';

type Call = (given: object) => Promise<Record<string, unknown>>;

/** `api.runtime.channel.inbound`, as a plugin calls it: untyped. */
const inboundOf = (post: PostOffice) =>
  post.channel()['inbound'] as unknown as Record<'run' | 'dispatch', Call> & {
    buildContext(given: object): Record<string, unknown>;
  };

const factsOf = (text: string, more: object = {}) => ({
  ...{ channel: 'post', accountId: 'default', messageId: 'm1', timestamp: 7, from: 'post:ada' },
  sender: { id: 'ada', name: 'Ada' },
  conversation: { kind: 'direct', id: 'ada', label: 'Ada' },
  route: { agentId: 'main', routeSessionKey: 'agent:main:main' },
  reply: { to: 'post:ada' },
  message: { rawBody: text },
  ...more,
});

/** An event that `dispatch` makes a message of, and what its channel has seen of it. */
function turnOf(
  post: PostOffice,
  text: string,
  more: Record<string, unknown> & { delivery?: object } = {},
) {
  const seen: string[] = [];
  const onAdopted = async () => void seen.push('adopted');
  const deliver = async (reply: { text?: string }) => {
    seen.push(`deliver ${reply.text}`);
    return { messageIds: ['p-1'], visibleReplySent: true };
  };
  const delivery = { deliver, ...more.delivery };
  const turn = {
    ...{ cfg: {}, channel: 'post', accountId: 'default', route: { sessionKey: 'agent:main:main' } },
    ...{ ctxPayload: inboundOf(post).buildContext(factsOf(text)), replyPipeline: {} },
    ...{ turnAdoptionLifecycle: { onAdopted }, ...more, delivery },
  };
  return { turn, seen };
}

describe('a channel of OpenClaw 2026.9 takes in (event-pipeline §17.35)', () => {
  it('makes a message of the facts of an event, and its own code delivers the reply', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load });
    const { turn, seen } = turnOf(post, 'hello');
    expect(await inboundOf(post).dispatch(turn)).toMatchObject({
      ...{ dispatched: true, admission: { kind: 'dispatch' }, routeSessionKey: 'agent:main:main' },
      dispatchResult: { queuedFinal: true },
    });
    expect(seen).toEqual(['adopted', 'deliver hello']);
    expect(lab.of('ingress.normalized')[0]?.payload).toMatchObject({
      ...{ channel: 'post', from: 'post:ada', content: 'hello', conversationId: 'post:ada' },
      ...{ messageId: 'm1', sentAtMs: 7, sender: { id: 'ada', name: 'Ada' } },
    });
    expect(lab.of('egress.sent')[0]?.payload.receipt).toEqual({
      ...{ conversationId: 'post:ada', messageId: 'p-1' },
    });
  });

  it('adopts an event when the host has it, before the turn has ended', async () => {
    const post = postOffice();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const provider: AgentProvider = {
      ...{ id: 'slow', models: ['echo'], toolGate: 'enforce' },
      async *run(request) {
        await held;
        yield* echoProvider().run(request);
      },
    };
    await using _lab = await hostLab({
      ...{ loadPlugins: post.load, journal: memoryJournal() },
      agents: [{ id: 'main', provider }],
    });
    let adopted = (): void => undefined;
    const adoption = new Promise<void>((resolve) => {
      adopted = resolve;
    });
    const turnAdoptionLifecycle = { onAdopted: adopted };
    const { turn } = turnOf(post, 'hello', { turnAdoptionLifecycle });
    const running = inboundOf(post).dispatch(turn);
    await adoption;
    release();
    expect(await running).toMatchObject({ dispatched: true });
  });

  it('leaves an event in its queue if the journal could not keep the message', async () => {
    const post = postOffice();
    const journal = memoryJournal();
    const accept = async (): Promise<never> => {
      throw new Error('the disk is full');
    };
    await using _lab = await hostLab({ loadPlugins: post.load, journal: { ...journal, accept } });
    const { turn, seen } = turnOf(post, 'hello');
    const dispatched = inboundOf(post).dispatch(turn);
    await expect(dispatched).rejects.toMatchObject({ code: 'channel-closed' });
    expect(seen).toEqual([]);
  });

  it('counts no reply as sent of which its channel has shown nothing', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load });
    const deliver = async () => ({ visibleReplySent: false });
    await inboundOf(post).dispatch(turnOf(post, 'hello', { delivery: { deliver } }).turn);
    const preparePayload = async () => null;
    const hidden = turnOf(post, 'hello', { delivery: { preparePayload } });
    const ctxPayload = inboundOf(post).buildContext(factsOf('hi', { messageId: 'm2' }));
    await inboundOf(post).dispatch({ ...hidden.turn, ctxPayload });
    expect(lab.of('egress.failed').map(({ payload }) => payload.error)).toEqual([
      'its channel has shown nothing of it',
      'its channel has shown nothing of it',
    ]);
    expect(hidden.seen).toEqual(['adopted']);
  });

  it('prepares a reply, tells of its delivery, and waits for its end', async () => {
    const post = postOffice();
    await using _lab = await hostLab({ loadPlugins: post.load });
    const told: unknown[] = [];
    const delivery = {
      preparePayload: (reply: { text: string }) => ({ ...reply, text: reply.text.toUpperCase() }),
      deliverWithProviderMessageSending: async (reply: { text: string }, info: object) => {
        told.push(reply.text, Object.keys(info).sort());
        return { finalization: Promise.resolve({ messageIds: ['late'] }) };
      },
      onDelivered: (_reply: object, _info: object, result: { messageIds: unknown }) =>
        void told.push(result.messageIds),
    };
    const dispatcherOptions = { onReplyStart: () => void told.push('start') };
    const cfg = { messages: { responsePrefix: 'bot:' } };
    await inboundOf(post).dispatch(turnOf(post, 'hi', { delivery, dispatcherOptions, cfg }).turn);
    expect(told).toEqual([
      ...['start', 'BOT: HI'],
      ['assertPlatformSendAuthorized', 'kind', 'onPlatformSendDispatch'],
      ['late'],
    ]);
  });

  it('runs the steps of an event, and ends where its channel says so', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load });
    const { run } = inboundOf(post);
    const steps: string[] = [];
    const { turn, seen } = turnOf(post, 'hello', { turnAdoptionLifecycle: undefined });
    const adapter = {
      ingest: (raw: unknown) => ({ id: 'm1', rawText: raw }),
      classify: async () => ({ kind: 'message', canStartAgentTurn: true }),
      preflight: () => void steps.push('preflight'),
      resolveTurn: async () => turn,
      onFinalize: ({ dispatched }: { dispatched: boolean }) => void steps.push(`end ${dispatched}`),
    };
    const onAdopted = () => void steps.push('adopted');
    const event = { raw: 'hello', turnAdoptionLifecycle: { onAdopted } };
    expect(await run({ ...event, adapter })).toMatchObject({ dispatched: true });
    expect(steps).toEqual(['preflight', 'adopted', 'end true']);
    expect(seen).toEqual(['deliver hello']);
    const ends: readonly (readonly [object, object])[] = [
      [{ ingest: () => null }, { kind: 'drop', reason: 'ingest-null' }],
      [
        { classify: () => ({ kind: 'reaction', canStartAgentTurn: false }) },
        { kind: 'handled', reason: 'event:reaction' },
      ],
      [
        { preflight: () => ({ kind: 'drop', reason: 'no mention' }) },
        { kind: 'drop', reason: 'no mention' },
      ],
      [
        { resolveTurn: async () => ({ ...turn, admission: { kind: 'observeOnly' } }) },
        { kind: 'observeOnly' },
      ],
    ];
    for (const [step, admission] of ends)
      expect(await run({ ...event, adapter: { ...adapter, ...step } })).toMatchObject({
        ...{ dispatched: false, admission },
      });
    expect(lab.ends).toHaveLength(1);
  });

  it('tells the end of an event that failed, and has a prepared one dispatched by its own code', async () => {
    const post = postOffice();
    await using _lab = await hostLab({ loadPlugins: post.load });
    const { run } = inboundOf(post);
    const { turn } = turnOf(post, 'hello');
    const ends: unknown[] = [];
    const adapterOf = (runDispatch: () => unknown) => ({
      ingest: (raw: unknown) => raw,
      resolveTurn: () => ({ ...turn, runDispatch }),
      onFinalize: ({ dispatched }: { dispatched: boolean }) => void ends.push(dispatched),
    });
    const failing = adapterOf(() => Promise.reject(new Error('no line')));
    await expect(run({ raw: {}, adapter: failing })).rejects.toThrow('no line');
    const mine = adapterOf(() => 'mine');
    expect(await run({ raw: {}, adapter: mine })).toMatchObject({ dispatchResult: 'mine' });
    expect(ends).toEqual([false, true]);
  });

  it('tells the end of an event once, also if that fails', async () => {
    const post = postOffice();
    await using _lab = await hostLab({ loadPlugins: post.load });
    const { turn } = turnOf(post, 'hello');
    const ends: boolean[] = [];
    const adapter = {
      ingest: (raw: unknown) => raw,
      resolveTurn: () => turn,
      onFinalize: ({ dispatched }: { dispatched: boolean }) => {
        ends.push(dispatched);
        throw new Error('no ink');
      },
    };
    await expect(inboundOf(post).run({ raw: {}, adapter })).rejects.toThrow('no ink');
    expect(ends).toEqual([true]);
  });

  it('makes no message of an event that was given up before', async () => {
    const post = postOffice();
    await using lab = await hostLab({ loadPlugins: post.load });
    const abortSignal = AbortSignal.abort(new Error('a later one has taken its place'));
    const { turn, seen } = turnOf(post, 'hello', { turnAdoptionLifecycle: { abortSignal } });
    await expect(inboundOf(post).dispatch(turn)).rejects.toThrow('taken its place');
    expect([seen, lab.ends]).toEqual([[], []]);
  });

  it.each([
    [{ access: { commands: { authorized: true } } }, true],
    [{ command: { kind: 'text-slash', authorized: true } }, true],
    [{ command: { kind: 'text-slash' }, access: { commands: { authorized: true } } }, true],
    [
      {
        command: { kind: 'native', authorized: false },
        access: { commands: { authorized: true } },
      },
    ],
    [
      {
        commandTurn: { source: 'text', authorized: false },
        command: { kind: 'native', authorized: true },
      },
    ],
    [{ command: { kind: 'normal', authorized: true } }],
  ])('takes the word of a command on whether its sender may give it: %j', (more, may = false) => {
    const post = postOffice();
    post.load(createTestKernel().kernel);
    const context = inboundOf(post).buildContext(factsOf('/stop', more));
    expect(context).toHaveProperty('CommandAuthorized', may);
  });

  it('shows the reader what a message refers to, as far as its channel lets him see it', () => {
    const post = postOffice();
    const build = (more: object) => {
      post.load(createTestKernel().kernel);
      return inboundOf(post).buildContext(factsOf('hi', more));
    };
    const quote = { id: 'q', body: 'before', sender: 'eve' };
    expect(build({ supplemental: { quote } })).toMatchObject({
      ...{ ReplyToId: 'q', ReplyToBody: 'before', ReplyToSender: 'eve' },
    });
    const allowlist = { contextVisibility: 'allowlist', supplemental: { quote } };
    expect(build(allowlist)).not.toHaveProperty('ReplyToBody');
    const quoted = { contextVisibility: 'allowlist_quote', supplemental: { quote } };
    expect(build(quoted)).not.toHaveProperty('ReplyToBody'); // nobody has looked at who wrote it
    const allowed = { quote: { ...quote, senderAllowed: true } };
    expect(build({ ...allowlist, supplemental: allowed })).toHaveProperty('ReplyToBody', 'before');
    const media = [{ path: '/tmp/a.png', contentType: 'image/png' }, { url: 'https://x/b' }];
    expect(build({ media, extra: { GroupSubject: 'den' } })).toMatchObject({
      ...{ MediaPaths: ['/tmp/a.png', undefined], MediaUrls: ['/tmp/a.png', 'https://x/b'] },
      ...{ MediaTypes: ['image/png', 'application/octet-stream'], GroupSubject: 'den' },
    });
  });
});
