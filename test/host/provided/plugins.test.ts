import { describe, expect, it } from 'vitest';
import type { HostPlugin, OwnedRoute } from '../../../src/host/index.js';
import { collectingLogger, fakeChannel, scriptedAgent } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';

/** A plugin of no system at all, with what has happened to it. */
function plainPlugin(pluginId: string, offer: Partial<ReturnType<HostPlugin['provide']>> = {}) {
  const told: string[] = [];
  const logger = collectingLogger();
  const plugin = {
    ...{ pluginId, logger },
    provide: ({ clock, keyValues, eventIdOf }) => {
      told.push(
        `provide ${typeof clock.now()} ${keyValues !== undefined} ${eventIdOf('a', 'b', 'c')}`,
      );
      const none = { all: () => [], at: () => undefined };
      return {
        owner: pluginId,
        channels: [],
        commands: [],
        routes: none,
        toolsFor: () => [],
        ...offer,
      };
    },
    start: async () => void told.push('start'),
    stop: async () => void told.push('stop'),
  } satisfies Omit<HostPlugin, 'kernel'>;
  return { plugin, told, logger };
}

const command = (name: string, text: string) => ({
  name,
  description: 'Says it.',
  run: () => text,
});

describe('a plugin of a host', () => {
  it('is asked once for what it brings, and is started and stopped with the host', async () => {
    const { plugin, told } = plainPlugin('one');
    {
      await using _lab = await hostLab({ loadPlugins: (kernel) => [{ ...plugin, kernel }] });
      expect(told).toEqual([
        expect.stringMatching(/^provide number true u-[0-9a-f]{32}$/),
        'start',
      ]);
    }
    expect(told.slice(2)).toEqual(['stop']);
  });

  it('brings channels, and tools for the agents', async () => {
    const own = fakeChannel({ id: 'own' });
    const tool = {
      name: 'dice',
      description: 'Throws a die.',
      inputSchema: { type: 'object' },
      execute: () => 'a six',
    };
    class Offer {
      readonly owner = 'one';
      readonly channels = [own];
      readonly commands = [];
      readonly routes = { all: () => [], at: () => undefined };
      toolsFor() {
        return this.owner === 'one' ? [tool] : [];
      }
    }
    const plugin = { ...plainPlugin('one').plugin, provide: () => new Offer() };
    await using lab = await hostLab({
      agents: [{ id: 'main', provider: scriptedAgent([[{ tool: 'dice', args: {} }, 'It fell.']]) }],
      loadPlugins: (kernel) => [{ ...plugin, kernel }],
    });
    await lab.say('throw', own);
    expect(own.sent.map(({ content }) => content)).toEqual(['It fell.']);
    expect(lab.of('agent.tool.called')[0]?.payload).toMatchObject({ toolName: 'dice' });
  });

  it('leaves a command out whose name the host or another plugin has, and says so under its own name', async () => {
    const one = plainPlugin('one', { commands: [command('hi', 'one'), command('help', 'mine')] });
    const two = plainPlugin('two', { commands: [command('hi', 'two'), command('ho', 'two')] });
    await using lab = await hostLab({
      loadPlugins: (kernel) => [one, two].map(({ plugin }) => ({ ...plugin, kernel })),
    });
    for (const text of ['/hi', '/ho']) await lab.say(text);
    expect(lab.texts()).toEqual(['one', 'two']);
    const left = (name: string) => [`command "${name}" is left out: another has that name`];
    expect(one.logger.entries.map(({ message }) => message)).toEqual(left('help'));
    expect(two.logger.entries.map(({ message }) => message)).toEqual(left('hi'));
  });

  it('answers the paths that no plugin before it has', async () => {
    const routesOf = (extensionId: string, ...paths: string[]) => {
      const all = paths.map((path): OwnedRoute => {
        const handler = () => new Response(extensionId);
        return { extensionId, route: { method: '*', path, handler } };
      });
      return { all: () => all, at: (path: string) => all.find((one) => one.route.path === path) };
    };
    const one = plainPlugin('one', { routes: routesOf('one', '/a') });
    const two = plainPlugin('two', { routes: routesOf('two', '/a', '/b') });
    await using lab = await hostLab({
      loadPlugins: (kernel) => [one, two].map(({ plugin }) => ({ ...plugin, kernel })),
    });
    const { routes } = lab.host;
    expect(routes.list().map(({ path }) => path)).toEqual(['/a', '/a', '/b']);
    expect(routes.at('/a')).toMatchObject([{ extensionId: 'one' }]);
    const ask = async (path: string) =>
      (await routes.answer(new Request(`http://localhost${path}`))).text();
    expect([await ask('/a'), await ask('/b')]).toEqual(['one', 'two']);
  });
});
