import { describe, expect, it } from 'vitest';
import { type Journal, memoryJournal } from '../../../src/journal/index.js';
import { eventIdOf } from '../../../src/journal/internal.js';
import { defineExtension, ExtensionSet } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { createTestKernel, virtualClock } from '../../../src/testing/index.js';
import { fence } from '../../support/fences.js';
import { hostLab } from '../../support/host-lab.js';
import { type ScriptedChannel, scriptedChannel } from '../../support/scripted-channel.js';
import { slowly } from '../../support/slowly.js';
import { streamingChannel } from '../../support/streaming-channel.js';
import { end, said, start } from '../../support/turn-lab.js';

/** An extension that signs every answer with how often it was set up. */
function counting() {
  let setups = 0;
  return defineExtension({
    id: 'acme',
    setup(api) {
      const name = `#${++setups}`;
      api.mutate('egress.preparing', 'sign', ({ payload }) => ({
        content: `${payload.content} ${name}`,
      }));
    },
  });
}

/** An agent whose answer a test lets go. */
function held() {
  const release: (() => void)[] = [];
  const provider: AgentProvider = {
    id: 'held',
    models: ['m'],
    toolGate: 'enforce',
    async *run() {
      await new Promise<void>((resolve) => release.push(resolve));
      yield {
        type: 'message_end',
        message: { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
      };
      yield { type: 'agent_end', messages: [] };
    },
  };
  return { agents: [{ id: 'main', provider }], release };
}

describe('host.reload (§13.9)', () => {
  it('happens between two messages: what has begun ends with the old, what waits meets the new', async () => {
    const { agents, release } = held();
    await using lab = await hostLab({ agents, extensions: [{ extension: counting() }] });
    const first = lab.say('one');
    const second = lab.say('two');
    await lab.clock.advance(0);
    const reloaded = lab.host.reload('acme');
    await lab.clock.advance(1_000);
    expect(lab.kernel.stats().contributions).toBeGreaterThan(0);
    release.shift()?.();
    await first;
    expect(await reloaded).toMatchObject([{ extensionId: 'acme', result: 'reloaded' }]);
    await lab.clock.advance(0);
    release.shift()?.();
    await second;
    expect(lab.texts()).toEqual(['done #1', 'done #2']);
    expect(
      lab.kernel.plan('egress.preparing').filter(({ extensionId }) => extensionId === 'acme'),
    ).toHaveLength(1);
  });

  it('does not wait for ever: after its budget it replaces under what goes on, and says so', async () => {
    const { agents, release } = held();
    await using lab = await hostLab({
      agents,
      extensions: [{ extension: counting() }],
      budgets: { reloadTimeoutMs: 500 },
    });
    const said = lab.say('one');
    await lab.clock.advance(0);
    const reloaded = lab.host.reload();
    await lab.clock.advance(500);
    expect(await reloaded).toMatchObject([{ result: 'reloaded' }]);
    expect(lab.log.messages('warn')).toContain(
      '1 messages were under way for 500 ms; extensions are replaced while they go on',
    );
    release.shift()?.();
    await said;
    expect(lab.texts()).toEqual(['done #2']);
  });

  it('stops the accounts of a provided channel, and starts those of the new one; the host does not end', async () => {
    const order: string[] = [];
    let setups = 0;
    const channels = [1, 2].map((number) =>
      scriptedChannel({
        id: 'pigeon',
        startAccount: async () => void order.push(`${number} started`),
      }),
    );
    const extension = defineExtension({
      id: 'pigeons',
      setup(api) {
        const channel = channels[setups++];
        if (channel !== undefined) api.provide('channel', channel);
        api.own('connection', () => order.push(`${setups} undone`));
      },
    });
    await using lab = await hostLab({ channels: [], extensions: [{ extension }] });
    await lab.host.reload('pigeons');
    expect(order).toEqual(['1 started', '1 undone', '2 started']);
    expect(channels.map(({ running }) => running.size)).toEqual([0, 1]);
    expect(lab.host.state).toBe('running');
    await lab.say('hello', channels[1]);
    expect(channels[1]?.sent).toHaveLength(1);
    expect(lab.of('account.stopped')[0]?.payload.reason).toBe('its extension was unloaded');
  });

  it('tells what became of each extension, and is refused where the host does not run', async () => {
    const broken = defineExtension({
      id: 'broken',
      setup: () => {
        throw new Error('no licence');
      },
    });
    const lab = await hostLab({ extensions: [{ extension: counting() }, { extension: broken }] });
    expect(lab.host.extensions).toMatchObject([
      { extensionId: 'acme', status: 'loaded', labels: ['mutator sign on egress.preparing'] },
      { extensionId: 'broken', status: 'disabled', error: { code: 'setup-failed' } },
    ]);
    await lab.host.stop();
    await expect(lab.host.reload()).rejects.toMatchObject({ code: 'not-running' });
  });

  it('serves a set that somebody else has loaded, and leaves it loaded when the host stops', async () => {
    const { kernel } = createTestKernel();
    await using extensions = new ExtensionSet(kernel);
    await extensions.add({ name: 'acme', load: async () => counting() });
    const lab = await hostLab({ kernel, extensions });
    await lab.host.reload();
    await lab.host.stop();
    expect(extensions.statuses).toMatchObject([{ status: 'loaded', reloads: 1 }]);
  });

  it('works under least privilege: the host keeps its own choices (§12.5)', async () => {
    const { kernel } = createTestKernel({ leastPrivilege: true });
    await using lab = await hostLab({ kernel, extensions: [{ extension: counting() }] });
    expect(lab.host.extensions).toMatchObject([{ error: { code: 'not-granted' } }]);
    await lab.say('hello');
    expect(lab.texts()).toEqual(['hello']);
  });
});

/** An extension whose channel is another one each time that it is set up. */
function providing<C extends ScriptedChannel>(channels: readonly C[], isMissing?: () => boolean) {
  let setups = 0;
  return defineExtension({
    id: 'pigeons',
    setup(api) {
      if (isMissing?.() === true) throw new Error('no licence');
      const channel = channels[setups++];
      if (channel !== undefined) api.provide('channel', channel);
    },
  });
}

describe('a message that goes on while its channel is replaced (§13.9)', () => {
  const id = 'pigeon';
  const reloadTimeoutMs = 20;

  it('is shown while it grew: what was shown is taken back, and it goes out by the new one, once', async () => {
    const clock = virtualClock();
    const channels = [streamingChannel({ id }), streamingChannel({ id })];
    await using lab = await hostLab({
      clock,
      channels: [],
      extensions: [{ extension: providing(channels) }],
      agents: [
        { id: 'main', provider: slowly(clock, () => [start, ...said('Hello world'), end()]) },
      ],
      budgets: { reloadTimeoutMs },
    });
    const saying = lab.say('hi', channels[0]);
    await clock.advance(45);
    expect(channels[0]?.screen).toEqual([{ by: 'preview', text: 'Hell' }]);
    const reloaded = lab.host.reload();
    await clock.advance(10_000);
    expect(await reloaded).toMatchObject([{ result: 'reloaded' }]);
    expect(await saying).toMatchObject({ status: 'answered' });
    expect(channels.map(({ screen }) => screen)).toEqual([
      [],
      [{ by: 'send', text: 'Hello world' }],
    ]);
    expect(
      lab.families().filter((family) => /^egress\.(sent|failed|cancelled)$/.test(family)),
    ).toEqual(['egress.sent']);
  });

  it('waits until it may be sent again: the new one sends it', async () => {
    const waits = async () => ({ status: 'retry-after', retryAfterMs: 1_000 }) as const;
    const channels = [scriptedChannel({ id, send: waits }), scriptedChannel({ id })];
    await using lab = await hostLab({
      channels: [],
      extensions: [{ extension: providing(channels) }],
      budgets: { reloadTimeoutMs },
    });
    const saying = lab.say('hi', channels[0]);
    await lab.clock.advance(0);
    const reloaded = lab.host.reload();
    await lab.clock.advance(2_000);
    await reloaded;
    expect(await saying).toMatchObject({ status: 'answered', sends: [{ attempts: 2 }] });
    expect(channels[1]?.sent).toHaveLength(1);
  });

  it('is handled once where the new one brings it again, which has its acknowledgement', async () => {
    const { agents, release } = held();
    const channels = [scriptedChannel({ id }), scriptedChannel({ id })];
    await using lab = await hostLab({
      agents,
      channels: [],
      extensions: [{ extension: providing(channels) }],
      budgets: { reloadTimeoutMs },
    });
    await channels[0]?.receive({ text: 'hi' }, '7');
    await lab.clock.advance(0);
    const reloaded = lab.host.reload();
    await lab.clock.advance(reloadTimeoutMs);
    await reloaded;
    await channels[1]?.receive({ text: 'hi' }, '7');
    await lab.clock.advance(0);
    release.shift()?.();
    await lab.clock.advance(0);
    expect(release).toEqual([]);
    expect(lab.ends).toMatchObject([{ status: 'answered', updateId: '7' }]);
    expect(channels.map(({ acknowledged }) => acknowledged.length)).toEqual([0, 1]);
    expect(lab.host.stats()).toMatchObject({ received: 2, duplicates: 1 });
  });

  it('and has waited for it since before a restart: it is claimed when the channel comes (durability §7.1)', async () => {
    const journal = memoryJournal();
    const eventId = eventIdOf(id, 'default', '7');
    const about = { channel: id, accountId: 'default', updateId: '7', receivedAtMs: 0 };
    await journal.accept({ eventId, ...about, body: '{"text":"hi"}' });
    let isMissing = true;
    const pigeon = scriptedChannel({ id });
    await using lab = await hostLab({
      journal,
      extensions: [{ extension: providing([pigeon], () => isMissing) }],
    });
    await lab.clock.advance(5_000);
    expect(lab.ends).toEqual([]);
    isMissing = false;
    await lab.host.reload();
    await lab.clock.advance(0);
    expect(pigeon.sent.map(({ content }) => content)).toEqual(['hi']);
    expect(await journal.updates()).toMatchObject([{ state: 'ended', outcome: 'answered' }]);
  });

  it('and a send that nobody had asked for has waited for it: it goes out when the channel comes, once (durability §7.9)', async () => {
    const journal = memoryJournal();
    const about = { channel: id, accountId: 'default', kind: 'unprompted', fingerprint: 'f' };
    const emitted = { ...about, to: 'ada', content: 'a reminder', explicit: true };
    const { fingerprint: _, ...outgoing } = { ...emitted, streaming: false, attachments: [] };
    await journal.prepare(fence, { sendId: 's-1', ...about, body: JSON.stringify(outgoing) });
    let isMissing = true;
    const pigeon = scriptedChannel({ id });
    await using lab = await hostLab({
      journal,
      extensions: [{ extension: providing([pigeon], () => isMissing) }],
    });
    await lab.host.reload(); // it is still missing
    await lab.clock.advance(5_000);
    expect(await journal.sends()).toMatchObject([{ state: 'prepared' }]);
    isMissing = false;
    for (let times = 0; times < 2; times++) {
      await lab.host.reload();
      await lab.clock.advance(0);
    }
    expect(pigeon.sent.map(({ content }) => content)).toEqual(['a reminder']);
    expect(await journal.sends()).toMatchObject([{ state: 'sent' }]);
  });

  it.each([
    ['read', 'prepared', 'sent'],
    ['ended', 'sending', 'failed'],
  ] as const)(
    'and one of several such sends could not be %s: the next reload brings each to its end, once (durability §7.9)',
    async (failing, left, ended) => {
      const memory = memoryJournal();
      let hasFailed = true;
      const fail = (what: typeof failing): void => {
        if (hasFailed || what !== failing) return;
        hasFailed = true;
        throw new Error('the disk is full');
      };
      const journal: Journal = {
        ...memory,
        sends: async (filter) => {
          fail('read');
          return memory.sends(filter);
        },
        endSend: async (own, sendId, end) => {
          fail('ended');
          return memory.endSend(own, sendId, end);
        },
      };
      const about = { channel: id, accountId: 'default', kind: 'unprompted', fingerprint: 'f' };
      const { fingerprint: _, ...named } = about;
      const emitted = { ...named, streaming: false, attachments: [], metadata: {} };
      const contents = ['one', 'two', 'three'];
      for (const content of contents) {
        const body = JSON.stringify({ ...emitted, to: 'ada', content, explicit: true });
        await memory.prepare(fence, { sendId: content, ...about, body });
        if (left === 'sending') await memory.sending(fence, content); // nobody knows whether it is out
      }
      let isMissing = true;
      const pigeons = [scriptedChannel({ id }), scriptedChannel({ id })];
      await using lab = await hostLab({
        journal,
        extensions: [{ extension: providing(pigeons, () => isMissing) }],
      });
      await lab.clock.advance(0);
      isMissing = false;
      hasFailed = false;
      for (let times = 0; times < 2; times++) {
        await lab.host.reload();
        await lab.clock.advance(0);
      }
      expect(hasFailed).toBe(true);
      expect((await memory.sends()).map(({ state }) => state)).toEqual(contents.map(() => ended));
      const sent = pigeons.flatMap((pigeon) => pigeon.sent.map(({ content }) => content));
      expect(sent.toSorted()).toEqual(ended === 'sent' ? contents.toSorted() : []);
      expect(lab.of(`egress.${ended}`)).toHaveLength(contents.length);
    },
  );
});
