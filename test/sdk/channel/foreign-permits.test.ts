import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { httpChannel } from '../../../extensions/http/src/channel.js';
import { config } from '../../../extensions/http/src/config.js';
import { scheduleChannel } from '../../../extensions/import-openclaw/src/carried/schedules.js';
import { eventIdOf } from '../../../src/journal/internal.js';
import { type Kernel, silentLogger, systemClock } from '../../../src/kernel/internal.js';
import { loadLegacyPlugin } from '../../../src/openclaw/index.js';
import {
  approveSend,
  type ChannelPlugin,
  consoleChannel,
  SendPermit,
  type StreamPermits,
  TerminalScreen,
} from '../../../src/sdk/channel/index.js';
import type { ExtensionApi } from '../../../src/sdk/extension/index.js';
import { memoryKeyValues } from '../../../src/sdk/extension/internal.js';
import { createTestKernel, fakeChannel, samplePayload } from '../../../src/testing/index.js';
import { emulatedTerminal } from '../../support/emulated-terminal.js';
import { hostLab } from '../../support/host-lab.js';
import { slackLab } from '../../support/slack-lab.js';
import { telegramLab } from '../../support/telegram-lab.js';

/** A channel that a host runs, and what has gone out of it. */
interface Running extends AsyncDisposable {
  readonly channel: ChannelPlugin;
  readonly kernel: Kernel;
  readonly out: () => readonly unknown[];
}

/** Every channel of this repository, by its package and file, as a host runs it. */
const channels: Readonly<Record<string, () => Promise<Running>>> = {
  'sluice/console.ts': async () => {
    const written: string[] = [];
    const terminal = emulatedTerminal(40, 10);
    const write = (text: string): void => void written.push(text);
    const channel = consoleChannel({
      lines: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) },
      write,
      terminal: {
        screen: new TerminalScreen({ write, size: terminal.size }),
        showsInput: false,
        text: ({ content }) => content,
        paint: () => (line) => line,
      },
    });
    const lab = await hostLab({ channels: [channel] });
    return {
      ...{ channel, kernel: lab.kernel, out: () => written },
      [Symbol.asyncDispose]: lab[Symbol.asyncDispose],
    };
  },

  'sluice/legacy-channel.ts': async () => {
    const sent: unknown[] = [];
    const { kernel, clock } = createTestKernel();
    const outbound = {
      sendText: async (context: object) => {
        sent.push(context);
        return { messageId: 'p-1' };
      },
    };
    const plugin = loadLegacyPlugin(
      (api: { registerChannel(channel: object): void }) =>
        api.registerChannel({ id: 'pigeon', outbound }),
      { kernel, pluginId: 'pigeons' },
    );
    const { channels } = plugin.provide({ clock, keyValues: memoryKeyValues(), eventIdOf });
    const [channel] = channels;
    if (channel === undefined) throw new Error('the plugin has a channel');
    const lab = await hostLab({ kernel, channels: [channel] });
    return {
      ...{ channel, kernel, out: () => sent },
      [Symbol.asyncDispose]: lab[Symbol.asyncDispose],
    };
  },

  'sluice/fake-channel.ts': async () => {
    const channel = fakeChannel();
    const lab = await hostLab({ channels: [channel] });
    return {
      ...{ channel, kernel: lab.kernel, out: () => channel.sent },
      [Symbol.asyncDispose]: lab[Symbol.asyncDispose],
    };
  },

  'http/channel.ts': async () => {
    const calls: string[] = [];
    const callback = createServer((request, response) => {
      calls.push(String(request.url));
      response.end();
    }).listen(0, '127.0.0.1');
    await once(callback, 'listening');
    const { port } = callback.address() as AddressInfo; // it listens at a port
    const secret = 'a secret of some length';
    const hook = { secret, text: 'x', callback: { url: `http://127.0.0.1:${port}/`, secret } };
    const channel = httpChannel({
      config: config.parse({ port: 0, webhooks: { a: hook } }),
      ...{ clock: systemClock, log: silentLogger },
      store: {} as never, // nothing is kept
    });
    const lab = await hostLab({ channels: [channel] });
    return {
      ...{ channel, kernel: lab.kernel, out: () => calls },
      [Symbol.asyncDispose]: async () => {
        await lab[Symbol.asyncDispose]();
        callback.close();
      },
    };
  },

  'slack/channel.ts': async () => {
    const kernels: Kernel[] = [];
    const lab = await slackLab({ contribute: (one) => void kernels.push(one) });
    const [kernel] = kernels;
    if (kernel === undefined) throw new Error('the lab has a kernel');
    const posts = /^chat\./;
    const out = () => lab.server.calls.filter(({ method }) => posts.test(method));
    return { channel: lab.channel, kernel, out, [Symbol.asyncDispose]: lab[Symbol.asyncDispose] };
  },

  'import-openclaw/schedules.ts': async () => {
    const sent: unknown[] = [];
    const { to, channel = 'fake', accountId = 'default' } = samplePayload('egress.preparing');
    const name = to;
    const address = { channel, accountId, to };
    const api = { schedule: () => undefined, send: async (message: unknown) => sent.push(message) };
    const agent = { agentId: 'main', sessionKey: 'agent:main:main' };
    const schedule = { name, cron: '0 16 * * *', text: 'Tea?', to: address, ...agent };
    // of all that an extension has it schedules and sends alone
    const made = scheduleChannel(api as unknown as ExtensionApi, [schedule]);
    const lab = await hostLab({ channels: [made] });
    return {
      ...{ channel: made, kernel: lab.kernel, out: () => sent },
      [Symbol.asyncDispose]: lab[Symbol.asyncDispose],
    };
  },

  'telegram/channel.ts': async () => {
    const kernels: Kernel[] = [];
    const lab = await telegramLab({
      settings: { streaming: true },
      contribute: (one) => void kernels.push(one),
    });
    const { channel } = lab;
    const [kernel] = kernels;
    if (kernel === undefined) throw new Error('the lab has a kernel');
    const posts = /^(send|edit|delete)/;
    const out = () => lab.server.calls.filter(({ method }) => posts.test(method));
    return { channel, kernel, out, [Symbol.asyncDispose]: lab[Symbol.asyncDispose] };
  },
};

async function permitOf(kernel: Kernel): Promise<SendPermit> {
  const payload = { ...samplePayload('egress.preparing'), explicit: true, streaming: true };
  return approveSend(await kernel.dispatch('egress.preparing', payload)).mintPermit();
}

function streamOf(opening: SendPermit, final: SendPermit): StreamPermits {
  return {
    ...{ opening, final: () => final },
    ...{ report: () => undefined, noteShown: async () => undefined },
    mayTakeBack: async () => true,
  };
}

const context = { signal: new AbortController().signal };

/** Every way in which a channel takes a permit, by name. `own` is one of its host, `given` the one in question. */
function doorsOf(channel: ChannelPlugin) {
  type Door = (given: SendPermit, own: SendPermit) => Promise<unknown>;
  const { createStreamSender, previews } = channel;
  const doors: Record<string, Door> = { send: (given) => channel.send(given, context) };
  if (createStreamSender !== undefined) {
    doors['the opening of a stream'] = async (given, own) =>
      createStreamSender(streamOf(given, own)).onContentDelta({
        ...{ phase: 'content', content: 'FORGED', delta: 'FORGED' },
      } as never);
    doors['the final of a stream'] = (given, own) =>
      createStreamSender(streamOf(own, given)).onFinal({
        phase: 'final',
        content: 'FORGED',
      } as never);
  }
  if (previews !== undefined)
    doors['the end of a preview that was left'] = (given) =>
      previews.complete(given, { shown: {}, noteShown: async () => undefined });
  return doors;
}

describe('M5: every channel asks its host of every permit that it is given (§14.14)', () => {
  it('no channel is left out', () => {
    const packages = readdirSync('extensions').map((name) => [name, `extensions/${name}/src`]);
    const sends = /^ +(send: async|async send) ?\(permit|= new ChatAccounts</m;
    const shared = ['sluice/accounts.ts']; // the `send` of the channels that make one, which are found themselves
    const found = [['sluice', 'src'], ...packages].flatMap(([name, root = '']) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .filter((file) => sends.test(readFileSync(`${root}/${file}`, 'utf8')))
        .map((file) => `${name}/${basename(file)}`),
    );
    expect(found.filter((name) => !shared.includes(name)).toSorted()).toEqual(
      Object.keys(channels).toSorted(),
    );
  });

  it.each(Object.entries(channels))('the channel of %s', async (_name, run) => {
    await using running = await run();
    const { channel, kernel, out } = running;
    const found: string[] = [];
    for (const [name, door] of Object.entries(doorsOf(channel))) {
      const foreign = await permitOf(createTestKernel().kernel);
      const imitation = Object.assign(Object.create(SendPermit.prototype), {
        ...{ idempotencyKey: 'i', attempt: 1, isOf: () => true },
        ...{ take: () => samplePayload('egress.preparing') },
      }) as SendPermit;
      for (const given of [foreign, imitation]) {
        const end = await (async () => door(given, await permitOf(kernel)))().then(
          () => 'taken',
          (error: { readonly code?: unknown }) => error.code,
        );
        if (end !== 'permit-foreign') found.push(`${name}: ${String(end)}`);
      }
      if (foreign.used) found.push(`${name}: used`);
    }
    expect(found).toEqual([]);
    expect(out()).toEqual([]);
  });
});
