import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost, type HostOptions } from '../../../src/host/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import type { ErrorCode } from '../../../src/kernel/internal.js';
import { defineExtension } from '../../../src/sdk/extension/index.js';
import type { AgentProvider } from '../../../src/sdk/stream/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

/** An agent that never answers, and ends when it is told to. */
const waits: AgentProvider = {
  id: 'waits',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ signal }) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield { type: 'agent_end', messages: [], aborted: true };
  },
};
const agents = [{ id: 'main', provider: waits }];

describe('a host', () => {
  it('tells of its start and stop, and of each account, in order', async () => {
    const lab = await hostLab({ channel: scriptedChannel({ accounts: ['a', 'b'] }) });
    await lab.host.stop({ reason: 'SIGTERM' });
    expect(lab.families()).toEqual([
      'runtime.started',
      'gateway.starting',
      'account.started',
      'account.started',
      'gateway.started',
      'schedule.reconciled',
      'gateway.stopping',
      'account.stopped',
      'account.stopped',
      'runtime.stopping',
    ]);
    expect(lab.of('gateway.stopping')[0]?.payload.reason).toBe('SIGTERM');
    expect([...lab.channel.running]).toEqual([]);
  });

  it('starts its accounts side by side: one that takes its time holds up no other (durability §8.9)', async () => {
    const channel = scriptedChannel({ accounts: ['a', 'b'] });
    const steps: string[] = [];
    const slow = {
      ...channel,
      startAccount: async (...given: Parameters<typeof channel.startAccount>): Promise<void> => {
        steps.push(`${given[0]} begins`);
        if (given[0] === 'a')
          for (let turns = 0; turns < 100 && !steps.includes('b begins'); turns++)
            await new Promise((resolve) => setImmediate(resolve));
        await channel.startAccount(...given);
        steps.push(`${given[0]} is up`);
      },
    };
    await using lab = await hostLab({ channel: slow });
    expect(steps.indexOf('b begins')).toBeLessThan(steps.indexOf('a is up'));
    expect(lab.host.health().accounts.map(({ accountId }) => accountId)).toEqual(['a', 'b']);
  });

  it('D7: may be made without channels, where extensions provide them', async () => {
    const channel = scriptedChannel();
    const provides = defineExtension({
      id: 'provides',
      setup: (api) => api.provide('channel', channel),
    });
    const options = { agents: [{ id: 'main', provider: echoProvider() }] };
    const host = createHost({ ...options, extensions: [{ extension: provides }] });
    await host.start();
    expect([...channel.running]).toEqual(['default']);
    await host.stop();
    await expect(createHost(options).start()).rejects.toMatchObject({ code: 'no-account' });
  });

  it('A8: does not start without an extension that is required', async () => {
    const guard = defineExtension({
      id: 'guard',
      setup: () => {
        throw new Error('no key');
      },
    });
    const options = {
      agents: [{ id: 'main', provider: echoProvider() }],
      channels: [scriptedChannel()],
    };
    const without = createHost({ ...options, extensions: [{ extension: guard }] });
    await without.start();
    await without.stop();
    const host = createHost({ ...options, extensions: [{ extension: guard, required: true }] });
    await expect(host.start()).rejects.toMatchObject({ code: 'setup-failed' });
    expect(host.state).toBe('stopped');
  });

  it('B4: names the event, the account and the place of what could not be decoded', async () => {
    const channel = scriptedChannel({
      decode: () => ({ kind: 'undecodable', problem: 'it says nothing', path: '/text' }),
    });
    await using lab = await hostLab({ channel });
    await lab.say('?');
    const { eventId } = lab.of('ingress.received')[0]?.event ?? {};
    expect(lab.log.entries).toContainEqual({
      level: 'warn',
      message: 'an update could not be decoded',
      fields: {
        ...{ channel: 'scripted', accountId: 'default', eventId, path: '/text' },
        detail: 'it says nothing (at /text)',
      },
    });
  });

  it('leaves an account out that cannot be started, and says why', async () => {
    const channel = scriptedChannel({
      accounts: ['a', 'b'],
      startAccount: async (accountId) => {
        if (accountId === 'a') throw new Error('bad token');
      },
    });
    await using lab = await hostLab({ channel });
    expect(lab.of('account.stopped')[0]?.payload).toMatchObject({
      accountId: 'a',
      error: 'bad token',
    });
    expect(lab.of('account.started')).toHaveLength(1);
    await channel.receive({ text: 'hello' }, 'u', 'b');
    await lab.clock.advance(0);
    expect(lab.texts()).toEqual(['hello']);
  });

  it('does not start where no account can be', async () => {
    const channel = scriptedChannel({
      startAccount: async () => {
        throw new Error('bad token');
      },
    });
    const host = createHost({ agents, channels: [channel] });
    await expect(host.start()).rejects.toMatchObject({
      code: 'no-account',
      message: expect.stringMatching(/scripted\/default: bad token/),
    });
    expect(host.state).toBe('stopped');
    expect((await host.stopped).reason).toBe('it could not be started');
  });

  it('lets the running messages end before it stops, and takes nothing more in', async () => {
    let answer: () => void = () => undefined;
    const provider: AgentProvider = {
      ...waits,
      async *run() {
        await new Promise<void>((resolve) => (answer = resolve));
        yield {
          type: 'message_end',
          message: { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
        };
        yield { type: 'agent_end', messages: [] };
      },
    };
    const lab = await hostLab({ agents: [{ id: 'main', provider }] });
    void lab.say('hello');
    await lab.clock.advance(0);
    const stopping = lab.host.stop({ timeoutMs: 5_000 });
    await lab.clock.advance(1_000);
    expect(lab.host.state).toBe('stopping');
    answer();
    expect(await stopping).toMatchObject({ drained: true, abandoned: 0 });
    expect(lab.texts()).toEqual(['done']);
    void lab.say('too late');
    await lab.clock.advance(0);
    expect(lab.texts()).toEqual(['done']);
    expect(lab.log.messages('warn').at(-1)).toMatch(/after its account was stopped/);
  });

  it('aborts what is not done in time, and does not acknowledge it', async () => {
    const lab = await hostLab({ agents });
    void lab.say('hello');
    void lab.say('waiting in the lane');
    await lab.clock.advance(0);
    const stopping = lab.host.stop({ timeoutMs: 5_000 });
    await lab.clock.advance(5_000);
    expect(await stopping).toEqual({ reason: 'stopped', drained: false, abandoned: 2 });
    expect(lab.ends.map(({ status }) => status)).toEqual(['aborted', 'aborted']);
    expect(lab.channel.acknowledged).toEqual([]);
    expect(lab.of('agent.completed')).toMatchObject([
      { payload: { aborted: true, success: false } },
    ]);
  });

  it('stops at once if another host has taken its journal over: what runs is aborted, and left to that one (durability §11.3)', async () => {
    const losing = new AbortController();
    const journal = { ...memoryJournal(), lost: losing.signal };
    const lab = await hostLab({ agents, journal });
    void lab.say('hello');
    await lab.clock.advance(0);
    losing.abort(new Error('taken over'));
    expect(await lab.host.stopped).toMatchObject({ drained: false, abandoned: 1 });
    expect(lab.ends.map(({ status }) => status)).toEqual(['aborted']);
    expect(lab.texts()).toEqual([]);
    expect(await journal.updates()).toMatchObject([{ state: 'handling' }]);
    expect(lab.log.messages('error').at(-1)).toMatch(/another host has taken the journal over/);
  });

  it('does not wait when it is told to stop a second time', async () => {
    const lab = await hostLab({ agents });
    void lab.say('hello');
    await lab.clock.advance(0);
    const first = lab.host.stop({ timeoutMs: 60_000 });
    await lab.clock.advance(0);
    const second = lab.host.stop();
    await lab.clock.advance(0);
    expect(await first).toMatchObject({ drained: false, abandoned: 1 });
    expect(await second).toBe(await first);
  });

  it('stops by itself when the input of every account has ended', async () => {
    const lab = await hostLab({ channel: scriptedChannel({ accounts: ['a', 'b'] }) });
    lab.channel.end('one end', 'a');
    await lab.clock.advance(0);
    expect(lab.host.state).toBe('running');
    lab.channel.end('end of input', 'b');
    expect(await lab.host.stopped).toEqual({ reason: 'end of input', drained: true, abandoned: 0 });
  });

  it('loads its extensions, and a broken one disables itself alone', async () => {
    const shout = defineExtension({
      id: 'shout',
      setup: (api) =>
        void api.mutate('egress.preparing', 'loud', ({ payload }) => ({
          content: payload.content.toUpperCase(),
        })),
    });
    const broken = defineExtension({
      id: 'broken',
      setup: () => {
        throw new Error('no');
      },
    });
    await using lab = await hostLab({ extensions: [{ extension: shout }, { extension: broken }] });
    expect(lab.host.extensions.map(({ extensionId, status }) => [extensionId, status])).toEqual([
      ['shout', 'loaded'],
      ['broken', 'disabled'],
    ]);
    await lab.say('hello');
    expect(lab.texts()).toEqual(['HELLO']);
    await lab.host.stop();
    expect(lab.kernel.plan('egress.preparing')).toEqual([]);
    expect(lab.kernel.plan('routing.resolving')).toEqual([]);
  });

  it('starts once, and sends only while it runs', async () => {
    const lab = await hostLab();
    await expect(lab.host.start()).rejects.toMatchObject({ code: 'started-before' });
    await lab.host.stop();
    await expect(lab.host.send({ to: 'x', content: 'y' })).rejects.toMatchObject({
      code: 'not-running',
    });
  });

  it.each<[ErrorCode, Partial<HostOptions>]>([
    ['no-agent', { agents: [] }],
    ['no-agent', { agents: undefined as unknown as [] }], // as JavaScript may leave it out
    ['duplicate-agent', { agents: [...agents, ...agents] }],
    ['unknown-agent', { defaultAgent: 'gone' }],
    ['no-model', { agents: [{ id: 'main', provider: echoProvider(), model: 'gone' }] }],
    ['duplicate-channel', { channels: [scriptedChannel(), scriptedChannel()] }],
  ])('refuses wrong options: %s', (code, options) => {
    const create = () => createHost({ agents, channels: [scriptedChannel()], ...options });
    expect(create).toThrow(expect.objectContaining({ code, hint: expect.stringMatching(/\w/) }));
  });
});
