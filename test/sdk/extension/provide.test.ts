import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../../src/agent/index.js';
import { createHost } from '../../../src/host/index.js';
import {
  defineExtension,
  ExtensionSet,
  givenSource,
  loadExtension,
} from '../../../src/sdk/extension/index.js';
import { createTestKernel, loadForTest } from '../../../src/testing/index.js';
import { hostLab } from '../../support/host-lab.js';
import { type ScriptedChannel, scriptedChannel } from '../../support/scripted-channel.js';

/** An extension whose whole work is a channel. */
function pigeons(channel: ScriptedChannel = scriptedChannel({ id: 'pigeon' })) {
  const extension = defineExtension({
    id: 'pigeons',
    setup: (api) => api.provide('channel', channel),
  });
  return { channel, extension };
}

describe('api.provide (§13.5)', () => {
  it('gives the host what is no handler, and takes it back with the extension', async () => {
    const { channel, extension } = pigeons();
    const test = await loadForTest(extension);
    expect(test.provided('channel')).toEqual([channel]);
    expect(test.provided('command')).toEqual([]);
    expect(test.labels()).toEqual(['provided channel pigeon']);
    await test.dispose();
    expect(test.provided('channel')).toEqual([]);
  });

  it('gives nothing where setup fails, and is refused once setup has ended', async () => {
    const { kernel } = createTestKernel();
    let late: () => void = () => undefined;
    const extension = defineExtension({
      id: 'pigeons',
      setup(api) {
        late = () => api.provide('channel', scriptedChannel());
      },
    });
    expect(await loadExtension(kernel, extension)).toMatchObject({ status: 'loaded' });
    expect(late).toThrow(
      expect.objectContaining({
        code: 'setup-ended',
        message: expect.stringMatching(/^pigeons: api.provide\("channel"\) came after setup/),
      }),
    );
  });
});

describe('a host (§13.5)', () => {
  it('runs on channels of extensions alone', async () => {
    const { channel, extension } = pigeons();
    await using lab = await hostLab({ channels: [], extensions: [{ extension }] });
    expect([...channel.running]).toEqual(['default']);
    await lab.say('hello', channel);
    expect(channel.sent.map(({ content }) => content)).toEqual(['hello']);
    await lab.host.stop();
    expect([...channel.running]).toEqual([]);
  });

  it('uses what was loaded by somebody else', async () => {
    const { channel, extension } = pigeons();
    const { kernel } = createTestKernel();
    await using extensions = new ExtensionSet(kernel);
    await extensions.add(givenSource(extension));
    const agents = [{ id: 'main', provider: echoProvider() }];
    await using host = createHost({ kernel, agents, channels: [], extensions });
    await host.start();
    expect([...channel.running]).toEqual(['default']);
  });

  it('routes to provided agents, and runs provided commands', async () => {
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.provide('agent', { id: 'second', provider: echoProvider() });
        api.provide('command', { name: 'ping', description: 'Answers.', run: () => 'pong' });
      },
    });
    await using lab = await hostLab({ extensions: [{ extension }] });
    await lab.say('hello');
    expect(lab.of('routing.resolving')[0]?.payload.agents).toEqual(['main', 'second']);
    await lab.say('/ping');
    expect(lab.texts()).toEqual(['hello', 'pong']);
  });

  it('leaves out what has a name that is taken, and says whose it is', async () => {
    const extension = defineExtension({
      id: 'acme',
      setup(api) {
        api.provide('channel', scriptedChannel());
        api.provide('agent', { id: 'main', provider: echoProvider() });
        api.provide('command', { name: 'help', description: 'None.', run: () => 'no help' });
      },
    });
    await using lab = await hostLab({ extensions: [{ extension }] });
    expect(lab.log.messages('error')).toEqual([
      'channel "scripted" of acme is left out: another has that name',
      'agent "main" of acme is left out: another has that name',
      'command "/help" of acme is left out: another has that name',
    ]);
    await lab.say('/help');
    expect(lab.texts()[0]).toMatch(/^\/new/);
  });
});

describe('D3: a route of an extension (extensions-that-act §1.3)', () => {
  const metrics = defineExtension({
    id: 'metrics',
    setup(api) {
      api.provide('route', { method: 'GET', path: '/metrics', handler: () => new Response('0') });
    },
  });

  it.each([
    [['tap'], 'loaded'],
    [['agent.prompt.building:systemPrompt', 'dispatch:egress.sent'], 'loaded'],
    [['tap', 'schedule'], 'disabled'],
    [['veto:egress.*'], 'disabled'],
    [['tap', 'provide:route'], 'loaded'],
  ])(
    'of an extension that is granted %j is %s: some grants limit nothing else',
    async (given, status) => {
      await using lab = await hostLab({
        extensions: [{ extension: metrics }],
        grants: { metrics: given },
      });
      expect(lab.host.extensions).toMatchObject([{ extensionId: 'metrics', status }]);
    },
  );
});

describe('M4: under least privilege', () => {
  const provider = defineExtension({
    id: 'acme',
    setup(api) {
      api.provide('agent', { id: 'pwn', provider: echoProvider() });
      api.provide('command', { name: 'pwn', description: 'None.', run: () => 'pwned' });
    },
  });

  it('an extension that provides without a grant is disabled, and told which grants it needs (§12.5)', async () => {
    await using lab = await hostLab({
      extensions: [{ extension: provider }],
      leastPrivilege: true,
    });
    expect(lab.host.extensions).toMatchObject([
      {
        status: 'disabled',
        error: {
          code: 'not-granted',
          message: 'acme is not granted provide:agent, provide:command.',
          hint: expect.stringContaining(
            '"grants": { "acme": ["provide:agent", "provide:command"] }',
          ),
        },
      },
    ]);
    await lab.say('/pwn');
    expect(lab.texts().join()).not.toContain('pwned');
  });

  it('one that is granted each kind is loaded', async () => {
    await using lab = await hostLab({
      extensions: [{ extension: provider }],
      leastPrivilege: true,
      grants: { acme: ['provide:agent', 'provide:command'] },
    });
    await lab.say('/pwn');
    expect(lab.texts()).toEqual(['pwned']);
  });
});

describe('L11: an id that every object has already', () => {
  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '"%s" is refused with a clear error (§13.1)',
    (id) => {
      expect(() => defineExtension({ id, setup: () => undefined })).toThrow(
        expect.objectContaining({
          code: 'bad-extension',
          message: expect.stringContaining('is a name that every object has already'),
        }),
      );
    },
  );
});
