import { fileURLToPath } from 'node:url';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import type { Kernel } from '../../../src/kernel/internal.js';
import {
  type LegacyPlugin,
  type LegacyPluginOptions,
  loadLegacyPlugin,
} from '../../../src/openclaw/index.js';
import { collectingLogger, createTestKernel, virtualClock } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

type Entry = Readonly<Record<string, unknown>>;

/** The unmodified plugin of test/fixtures/legacy-plugins/courier, and what it writes down. */
let courier: { readonly log: Entry[] };

beforeAll(async () => {
  const file = new URL('../../fixtures/legacy-plugins/courier/index.js', import.meta.url);
  const module = (await import(fileURLToPath(file))) as { default: typeof courier };
  courier = module.default;
});

beforeEach(() => {
  courier.log.length = 0;
});

/** What it wrote down under a name, in order. */
function noted(name: string): unknown[] {
  return courier.log.filter((entry) => name in entry).map((entry) => entry[name]);
}

function load(kernel: Kernel, options: Partial<LegacyPluginOptions> = {}): LegacyPlugin {
  return loadLegacyPlugin(courier, { kernel, ...options });
}

function courierLab(options: Partial<LegacyPluginOptions> = {}) {
  return hostLab({ loadPlugins: (kernel) => [load(kernel, options)] });
}

const flight = { channel: 'pigeon', accountId: 'default', to: 'ada', content: 'coo' };

describe('a legacy plugin in a host', () => {
  it('sees what comes in, and changes and cancels what goes out', async () => {
    await using lab = await courierLab({ pluginConfig: { sign: '-- C' } });
    await lab.say('hello');
    expect(noted('received')).toEqual(['hello']);
    expect(lab.texts()).toEqual(['hello -- C']);
    const end = await lab.say('a secret');
    expect(end.status).toBe('cancelled');
    expect(lab.of('egress.cancelled')[0]?.payload.cancel.extensionId).toBe('courier');
  });

  it('hears internal hooks and agent events of the host’s own dispatches', async () => {
    await using lab = await courierLab({ config: { hooks: { internal: { enabled: true } } } });
    await lab.say('hello');
    expect(noted('internal')).toContain('message:received');
    expect(noted('stream')).toContain('lifecycle');
  });

  it('is out of it once it has been disposed, before the host has', async () => {
    let plugin: LegacyPlugin | undefined;
    await using lab = await hostLab({
      loadPlugins: (kernel) => {
        plugin = load(kernel, { pluginConfig: { sign: '-- C' } });
        return [plugin];
      },
    });
    const { failures } = (await plugin?.dispose()) ?? {};
    await lab.say('hello');
    expect(failures).toEqual([]);
    expect(lab.texts()).toEqual(['hello']);
    expect(noted('received')).toEqual([]);
    expect(noted('stream')).toEqual([]);
  });
});

describe('its services', () => {
  it('start with the host, in order, and stop with it, in reverse', async () => {
    const lab = await courierLab({ workspaceDir: '/srv', stateDir: '/srv/state' });
    expect(noted('started')).toEqual(['loft', 'ringer']);
    expect(courier.log.find((entry) => entry['started'] === 'loft')).toMatchObject({
      workspaceDir: '/srv',
      stateDir: '/srv/state',
    });
    expect(noted('stopped')).toEqual([]);
    await lab[Symbol.asyncDispose]();
    expect(noted('stopped')).toEqual(['ringer', 'loft']);
  });

  it('that fail are told of, and neither keep the others from starting nor the host', async () => {
    const started: string[] = [];
    const logger = collectingLogger();
    const module = (api: { registerService(service: object): void }): void => {
      const broken = { id: 'broken', start: () => Promise.reject(new Error('no port')) };
      api.registerService({ ...broken, stop: () => started.push('never') });
      api.registerService({ id: 'fine', start: () => started.push('fine') });
    };
    const lab = await hostLab({
      loadPlugins: (kernel) => [loadLegacyPlugin(module, { kernel, pluginId: 'acme', logger })],
    });
    await lab[Symbol.asyncDispose]();
    expect(started).toEqual(['fine']);
    const errors = logger.entries.filter(({ level }) => level === 'error');
    expect(errors).toMatchObject([
      {
        message: 'acme: service "broken": start failed',
        fields: { error: { message: 'no port' } }, // §20.3
      },
    ]);
  });

  it('that do not end their start are left behind, and stopped all the same', async () => {
    const clock = virtualClock();
    const { kernel } = createTestKernel({ clock });
    const stopped: string[] = [];
    const module = (api: { registerService(service: object): void }): void =>
      api.registerService({
        id: 'slow',
        start: () => new Promise(() => undefined),
        stop: () => stopped.push('slow'),
      });
    const plugin = loadLegacyPlugin(module, { kernel, pluginId: 'acme', clock });
    const starting = plugin.start();
    await clock.advance(30_000);
    await starting;
    await plugin.stop();
    expect(stopped).toEqual(['slow']);
    expect(plugin.diagnostics.map(({ message }) => message)).toEqual([
      'service "slow": start has not ended after 30000 ms; the others go on',
    ]);
  });
});

describe('its commands', () => {
  it('answer through command.received and command.completed, with text and file', async () => {
    await using lab = await courierLab({ config: { loft: 7 } });
    const end = await lab.say({ text: '/fly to  the Moon', thread: '12' });
    expect(end.status).toBe('command');
    expect(lab.channel.sent[0]).toMatchObject({
      content: 'flying to to  the Moon',
      attachments: [{ url: 'https://loft.test/map.png' }],
    });
    expect(noted('command')).toEqual([
      {
        channel: 'scripted',
        channelId: 'scripted',
        senderId: 'ada',
        isAuthorizedSender: true,
        args: 'to  the Moon',
        commandBody: '/fly to  the Moon',
        config: { loft: 7 },
        from: 'scripted:ada',
        accountId: 'default',
        messageThreadId: 12,
      },
    ]);
    expect(lab.of('command.received')[0]?.payload).toMatchObject({ name: 'fly', source: 'chat' });
    expect(lab.of('command.completed')[0]?.payload).toMatchObject({
      success: true,
      result: 'flying to to  the Moon',
    });
  });

  it.each([
    ['/coo', 'coo', true],
    ['/fly', 'You may not use "/fly".', false],
  ])('ask who may give them: %s by a stranger', async (text, answer, success) => {
    await using lab = await courierLab();
    await lab.say({ text, commandAuthorized: false });
    expect(lab.texts()).toEqual([answer]);
    expect(lab.of('command.completed')[0]?.payload.success).toBe(success);
  });

  it('refuse arguments that they do not take', async () => {
    await using lab = await courierLab();
    await lab.say('/coo loudly');
    expect(lab.texts()).toEqual(['"/coo" takes nothing after its name.']);
    expect(lab.of('command.completed')[0]?.payload.success).toBe(false);
  });

  it('that throw do not tell their sender why', async () => {
    await using lab = await courierLab();
    await lab.say('/lost');
    expect(lab.texts()).toEqual(['"/lost" failed.']);
    expect(lab.of('command.completed')[0]?.payload).toMatchObject({
      success: false,
      error: 'the loft is at 10.0.0.7',
    });
  });

  it('that say nothing send nothing', async () => {
    await using lab = await courierLab();
    const end = await lab.say('/hush');
    expect(end).toMatchObject({ status: 'command', sends: [] });
    expect(lab.channel.sent).toEqual([]);
  });

  it('stand behind those of the host and of an earlier plugin, and this is told', async () => {
    const logger = collectingLogger();
    const second = (api: { registerCommand(command: object): void }): void => {
      for (const name of ['coo', 'ping'])
        api.registerCommand({ name, description: name, handler: () => ({ text: `my ${name}` }) });
    };
    await using lab = await hostLab({
      commands: [{ name: 'ping', description: 'Answers.', run: () => 'pong' }],
      loadPlugins: (kernel) => [
        load(kernel),
        loadLegacyPlugin(second, { kernel, pluginId: 'second', logger }),
      ],
    });
    await lab.say('/coo');
    await lab.say('/ping');
    expect(lab.texts()).toEqual(['coo', 'pong']);
    expect(logger.messages('warn')).toHaveLength(2);
  });
});

describe('its channel', () => {
  it('sends what the host approved, in the pieces that it asks for', async () => {
    await using lab = await courierLab({ pluginConfig: { sign: '-- C' } });
    const report = await lab.host.send({ ...flight, content: 'coo coo coo' });
    expect(noted('sendText')).toMatchObject([
      { to: 'ada', text: 'coo coo co', accountId: 'default', cfg: {} },
      { to: 'ada', text: 'o -- C' },
    ]);
    expect(report).toMatchObject({
      status: 'sent',
      receipt: {
        messageId: 'p-6',
        messageIds: ['p-10', 'p-6'],
        conversationId: 'ada',
        sentAtMs: 7,
      },
    });
    expect(lab.of('egress.sent')[0]?.payload.channel).toBe('pigeon');
  });

  it('sends nothing that a veto has cancelled', async () => {
    await using lab = await courierLab();
    const report = await lab.host.send({ ...flight, content: 'a secret' });
    expect(report.status).toBe('cancelled');
    expect(noted('sendText')).toEqual([]);
  });

  it('has the accounts that it lists, each announced as started and stopped', async () => {
    const lab = await courierLab({ config: { channels: { pigeon: { accounts: ['a', 'b'] } } } });
    const started = lab.of('account.started').map(({ payload }) => payload);
    const names = started.map(({ channel, accountId }) => `${channel} ${accountId}`);
    expect(names.toSorted()).toEqual(['pigeon a', 'pigeon b', 'scripted default']); // side by side
    const report = await lab.host.send({ ...flight, accountId: 'b' });
    expect(report).toMatchObject({ status: 'sent', accountId: 'b' });
    await lab[Symbol.asyncDispose]();
    expect(lab.of('account.stopped')).toHaveLength(3);
  });

  it('sends files one by one, the text with the first', async () => {
    const attach = {
      family: 'egress.preparing',
      class: 'mutator',
      extensionId: 'x',
      id: 'x',
    } as const;
    await using lab = await hostLab({
      loadPlugins: (kernel) => [load(kernel)],
      contribute: (kernel) => {
        const urls = ['https://a.test/1', 'https://a.test/2'];
        kernel.contribute({
          ...attach,
          handler: () => ({ attachments: urls.map((url) => ({ kind: 'image' as const, url })) }),
        });
      },
    });
    await lab.host.send(flight);
    expect(noted('sendMedia')).toMatchObject([
      { text: 'coo', mediaUrl: 'https://a.test/1' },
      { text: '', mediaUrl: 'https://a.test/2' },
    ]);
    expect(noted('sendText')).toEqual([]);
  });

  it('gets as a payload what only it understands', async () => {
    await using lab = await courierLab();
    const metadata = { channelData: { ring: 3 } };
    const report = await lab.host.send({ ...flight, metadata });
    expect(noted('sendPayload')).toMatchObject([
      { text: 'coo', payload: { text: 'coo', ...metadata } },
    ]);
    expect(report.receipt).toEqual({ messageId: 'pl-1', meta: { ring: 3 } });
  });

  it('that throws leaves a send that nobody knows the end of, and it is not repeated', async () => {
    await using lab = await courierLab();
    const report = await lab.host.send({ ...flight, content: 'away from the hawk' });
    expect(report).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: '1 of 2 parts were sent, then: a hawk took it',
    });
    expect(lab.of('egress.failed')[0]?.payload.cause).toBe('ambiguous');
  });

  it('does not keep a host running whose input has ended', async () => {
    await using lab = await courierLab();
    lab.channel.end();
    expect(await lab.host.stopped).toMatchObject({ reason: 'end of script' });
  });

  it('alone, without any input, keeps its host until it is stopped', async () => {
    const { kernel, clock } = createTestKernel();
    const agents = [{ id: 'main', provider: echoProvider() }];
    const host = createHost({ kernel, clock, agents, channels: [], plugins: [load(kernel)] });
    await host.start();
    expect(host.state).toBe('running');
    expect(await host.send(flight)).toMatchObject({ status: 'sent' });
    await host.stop();
  });
});

describe('createHost', () => {
  it('refuses a plugin of another kernel: its hooks would never be called', () => {
    const plugin = load(createTestKernel().kernel);
    const agents = [{ id: 'main', provider: echoProvider() }];
    expect(() => createHost({ agents, channels: [scriptedChannel()], plugins: [plugin] })).toThrow(
      expect.objectContaining({ code: 'foreign-plugin' }),
    );
  });

  it('refuses a plugin whose channel has the name of another', async () => {
    const { kernel } = createTestKernel();
    const agents = [{ id: 'main', provider: echoProvider() }];
    const channels = [scriptedChannel({ id: 'pigeon' })];
    expect(() => createHost({ kernel, agents, channels, plugins: [load(kernel)] })).toThrow(
      expect.objectContaining({ code: 'duplicate-channel' }),
    );
  });
});
