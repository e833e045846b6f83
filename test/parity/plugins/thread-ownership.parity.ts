import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createKernel } from '../../../src/kernel/internal.js';
import { loadLegacyPluginFrom } from '../../../src/openclaw/index.js';
import { expectCancelled, expectPassed, samplePayload } from '../../../src/testing/index.js';
import { openClawPackage } from '../../support/openclaw-package.js';
import {
  type OwnershipScenario,
  ownershipScenarios,
  type Reply,
  type Step,
} from './ownership-scenarios.js';
import { bridgedSide, realSide, type Side } from './plugin-lab.js';

const { root } = await openClawPackage();
const pluginId = 'thread-ownership';
let instances = 0;

/** The plugin as it is shipped; a fresh instance of its module, since it keeps mentions in one. */
function importPlugin(): Promise<{ default: (api: unknown) => void }> {
  const file = join(root ?? '', 'extensions/thread-ownership/index.ts');
  return import(/* @vite-ignore */ `${file}?instance=${++instances}`);
}

/** Stands for the network: what was asked, and what comes back. */
function forwarder(reply: Reply = [200, '{}']): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit): Promise<Response> => {
    asked.push(`${init.method} ${url} ${init.body}`);
    expect(new Headers(init.headers).get('content-type')).toBe('application/json');
    if (reply === 'unreachable') throw new TypeError('fetch failed');
    if (reply === 'silent') {
      waits.abort(new DOMException('signal timed out', 'TimeoutError'));
      init.signal?.throwIfAborted();
      throw new Error('its signal is not the one that times out');
    }
    return new Response(reply[1] ?? null, { status: reply[0] });
  });
  const waits = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    expect(ms).toBe(3_000);
    return waits.signal;
  });
  return asked;
}

async function play({ runner }: Side, steps: readonly Step[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const step of steps) {
    if ('passMs' in step) vi.setSystemTime(Date.now() + step.passMs);
    else if ('hears' in step)
      await runner['runMessageReceived']?.(step.hears, step.ctx ?? { channelId: 'slack' });
    else
      results.push(
        await runner['runMessageSending']?.(step.sends, step.ctx ?? { channelId: 'slack' }),
      );
  }
  return results;
}

async function check(side: Side, scenario: OwnershipScenario): Promise<void> {
  const asked = forwarder(scenario.reply);
  expect(await play(side, scenario.steps)).toEqual(scenario.results);
  expect(asked).toEqual(scenario.asked ?? []);
  const told = side.written().filter((line) => line.includes('thread-ownership: '));
  const wrote = scenario.wrote ?? [];
  expect(told).toHaveLength(wrote.length);
  for (const [at, [level, words]] of wrote.entries()) {
    expect(told[at]).toMatch(new RegExp(`^${level} `));
    expect(told[at]).toContain(words);
  }
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe.skipIf(root === undefined)('thread-ownership as it is shipped, by both runners', () => {
  it.each(ownershipScenarios)('$name', async (scenario) => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_773_532_800_000 });
    for (const [name, value] of Object.entries(scenario.env ?? {})) vi.stubEnv(name, value);
    const { name: _, ...setting } = { pluginId, ...scenario };
    await check(await realSide(root ?? '', (await importPlugin()).default, setting), scenario);
    vi.setSystemTime(1_773_532_800_000);
    await check(bridgedSide(await importPlugin(), setting), scenario);
  });

  it('registers two hooks, which are an observer, a mutator and a veto here', async () => {
    const real = await realSide(root ?? '', (await importPlugin()).default, { pluginId });
    expect(real.hooks).toEqual(['message_received', 'message_sending']);
    const { plugin } = bridgedSide(await importPlugin(), { pluginId });
    expect(plugin.hooks.map(({ hookName }) => hookName)).toEqual(real.hooks);
    expect(plugin.hooks.flatMap(({ parts }) => parts)).toEqual([
      { family: 'ingress.normalized', class: 'observer' },
      { family: 'egress.preparing', class: 'mutator' },
      { family: 'egress.preparing', class: 'veto' },
    ]);
    expect(plugin.unsupported).toEqual([]);
  });

  it('has its configuration judged by its own manifest', async () => {
    const folder = join(root ?? '', 'extensions/thread-ownership');
    const load = async (pluginConfig: Record<string, unknown>) =>
      loadLegacyPluginFrom(folder, {
        kernel: createKernel(),
        pluginConfig,
        importModule: importPlugin,
      });
    const plugin = await load({ abTestChannels: ['C1'] });
    expect([plugin.pluginId, plugin.status]).toEqual([pluginId, 'loaded']);
    expect((await load({ abTestChannels: 'C1' })).error?.message).toContain('abTestChannels');
  });

  it('keeps a canonical reply back, over a real connection, until it is mentioned in the thread', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(`${request.method} ${request.url}`);
      response.writeHead(409, { 'content-type': 'application/json' }).end('{"owner":"other"}');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo; // it listens on one
    const pluginConfig = { forwarderUrl: `http://127.0.0.1:${port}` };
    const config = { agents: { list: [{ id: 'a', name: 'Bot' }] } };
    const { kernel } = bridgedSide(await importPlugin(), { pluginId, config, pluginConfig });
    const place = { channel: 'slack', conversationId: 'C1', threadId: '17.5', metadata: {} };
    const reply = { ...samplePayload('egress.preparing'), ...place, to: 'C1', explicit: true };
    try {
      expectCancelled(await kernel.dispatch('egress.preparing', { ...reply }), { code: 'policy' });
      const heard = { ...samplePayload('ingress.normalized'), ...place, content: 'hey @Bot' };
      expectPassed(await kernel.dispatch('ingress.normalized', heard));
      expectPassed(await kernel.dispatch('egress.preparing', { ...reply }));
      expect(paths).toEqual(['POST /api/v1/ownership/C1/17.5']);
    } finally {
      await new Promise((closed) => server.close(closed));
    }
  });
});
