import { describe, expect, it } from 'vitest';
import { defineExtension, ExtensionSet } from '../../src/extension/index.js';
import type { AgentProvider } from '../../src/stream/index.js';
import { createTestKernel } from '../../src/testing/index.js';
import { hostLab } from '../support/host-lab.js';
import { scriptedChannel } from '../support/scripted-channel.js';

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
      reloadTimeoutMs: 500,
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
