import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { echoProvider } from '../../../src/agent/index.js';
import {
  createHost,
  type Host,
  type HostOptions,
  startHealthServer,
} from '../../../src/host/index.js';
import type { MessageEnd } from '../../../src/journal/index.js';
import { createKernel, type Kernel, loggerWith } from '../../../src/kernel/internal.js';
import { type LegacyPlugin, loadLegacyPluginFrom } from '../../../src/openclaw/index.js';

/** A host that runs one unmodified plugin of OpenClaw as its channel. */
export interface ChannelLab extends AsyncDisposable {
  readonly host: Host;
  readonly plugin: LegacyPlugin;
  /** The messages of the log. */
  readonly log: readonly string[];
  readonly ends: readonly MessageEnd[];
  /** The HTTP port of the host, where the routes of the plugin answer. */
  readonly url: string;
  /** Waits until a message has ended that fits. */
  ended(fits: (end: MessageEnd) => boolean): Promise<MessageEnd>;
  /** Waits until the log has a line that matches. */
  logs(pattern: RegExp): Promise<void>;
}

export interface ChannelLabOptions {
  /** The folder of the installed openclaw: the plugin is one of its `extensions`. */
  readonly openclaw: string;
  readonly plugin: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly contribute?: (kernel: Kernel) => void;
  readonly host?: Partial<HostOptions>;
}

/** Starts the host. */
export async function channelLab(options: ChannelLabOptions): Promise<ChannelLab> {
  const { openclaw, plugin: name, config, contribute } = options;
  const stateDir = await mkdtemp(join(tmpdir(), 'sluice-channel-'));
  const ends: MessageEnd[] = [];
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const check of waiting) check();
  };
  const log: string[] = [];
  const logger = loggerWith((_level, message) => {
    log.push(message);
    look();
  });
  const kernel = createKernel();
  contribute?.(kernel);
  const plugin = await loadLegacyPluginFrom(join(openclaw, 'extensions', name), {
    ...{ kernel, config, openclaw, stateDir, logger, routes: true },
  });
  if (plugin.error !== undefined) throw plugin.error;
  const host = createHost({
    agents: [{ id: 'main', provider: echoProvider() }],
    ...{ kernel, channels: [], plugins: [plugin], logger },
    ...options.host,
    onMessageEnd: (end) => {
      ends.push(end);
      look();
    },
  });
  await host.start();
  const port = await startHealthServer(host, { port: 0 });
  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const check = (): void => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  return {
    ...{ host, plugin, log, ends, url: port.url },
    ended: (fits) => until(() => ends.find(fits)),
    logs: async (pattern) => void (await until(() => log.find((line) => pattern.test(line)))),
    [Symbol.asyncDispose]: async () => {
      await port[Symbol.asyncDispose]();
      await host.stop({ timeoutMs: 2_000 });
      await plugin.dispose();
      await kernel.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
