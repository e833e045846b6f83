import { describe, expect, it } from 'vitest';
import { createHost, type HostPlugin } from '../../../src/host/index.js';
import { createKernel, deferred, type Kernel, silentLogger } from '../../../src/kernel/internal.js';
import { scriptedAgent } from '../../../src/testing/index.js';
import { scriptedChannel } from '../../support/scripted-channel.js';

const observe = (kernel: Kernel, family: 'session.started' | 'routing.resolved'): void =>
  void kernel.contribute({
    ...{ family, class: 'observer', extensionId: 'x', id: 'o' },
    handler: () => undefined,
  });

describe('the principal of a turn', () => {
  it.each<[string, (kernel: Kernel) => void]>([
    ['nobody hears its stages', () => undefined],
    ['somebody hears that its session has begun', (kernel) => observe(kernel, 'session.started')],
    ['somebody hears of its route', (kernel) => observe(kernel, 'routing.resolved')],
    ['all is written down', (kernel) => void kernel.tap({ outcome: () => undefined })],
  ])('is that of its message for the tools of plugins, if %s (§17.25)', async (_, prepare) => {
    const kernel = createKernel();
    prepare(kernel);
    const channel = scriptedChannel();
    const asked: unknown[] = [];
    const plugin = {
      ...{ pluginId: 'p', kernel, logger: silentLogger },
      ...{ start: async () => undefined, stop: async () => undefined },
      provide: () => ({
        ...{ owner: 'p', channels: [], commands: [] },
        routes: { all: () => [], at: () => undefined },
        toolsFor: ({ principal }: { readonly principal?: unknown }) => {
          asked.push(principal);
          return [];
        },
      }),
    };
    const ended = deferred<unknown>();
    const host = createHost({
      agents: [{ id: 'main', provider: scriptedAgent([['hi']]) }],
      ...{ channels: [channel], roles: { owner: ['scripted:ada'] }, kernel },
      plugins: [plugin as unknown as HostPlugin], // it offers no more than the turn asks for
      ...{ logger: silentLogger, onMessageEnd: ended.resolve },
    });
    await host.start();
    await channel.receive({ text: 'hello' }, 'u-1');
    await ended.promise;
    await host.stop({ timeoutMs: 100 });
    expect(asked).toMatchObject([{ senderId: 'ada', isOwner: true, roles: ['owner'] }]);
  });
});
