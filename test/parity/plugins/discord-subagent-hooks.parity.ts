import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openClawPackage } from '../../support/openclaw-package.js';
import { discord, resetDiscord } from './discord-sdk.js';
import { bridgedSide, realSide, type Side } from './plugin-lab.js';

type Fields = Readonly<Record<string, unknown>>;

const { root } = await openClawPackage();
const pluginId = 'discord';

/** The register function as it is shipped; what it imports of the SDK is stood in for. */
async function importRegister(): Promise<(api: unknown) => void> {
  const file = join(root ?? '', 'extensions/discord/src/subagent-hooks.ts');
  const module = (await import(/* @vite-ignore */ file)) as Record<string, unknown>;
  return module['registerDiscordSubagentHooks'] as (api: unknown) => void;
}

/** Runs the same on both sides, each with a stand-in of its own state, and gives back what both came to. */
async function onBoth<T>(
  run: (side: Side) => Promise<T>,
  { channels, prepare }: { channels?: Fields; prepare?: () => void } = {},
): Promise<T> {
  const register = await importRegister();
  const setting = { pluginId, config: channels === undefined ? {} : { channels } };
  const results: T[] = [];
  for (const side of [
    await realSide(root ?? '', register, setting),
    bridgedSide(register, setting),
  ]) {
    resetDiscord();
    prepare?.();
    results.push(await run(side));
  }
  const [real, bridged] = results;
  expect(bridged).toEqual(real);
  return bridged as T; // both are there
}

const requester = { channel: ' Discord ', accountId: 'work', to: 'channel:1', threadId: '7' };
const child = { childSessionKey: 'agent:main:subagent:1', agentId: 'main' };
const wanted = { ...child, label: 'banana', mode: 'session', requester, threadRequested: true };
const ready = { channels: { discord: { threadBindings: { spawnSubagentSessions: true } } } };

const spawn = (event: Fields) => async (side: Side) => ({
  result: await side.runner['runSubagentSpawning']?.(event, {}),
  bound: [...discord.bound],
});

afterEach(resetDiscord);

describe.skipIf(root === undefined)(
  'the discord subagent hooks as they are shipped, by both runners',
  () => {
    it('are three, and not subagent_spawned', async () => {
      const register = await importRegister();
      const { hooks } = await realSide(root ?? '', register, { pluginId });
      expect(hooks).toEqual(['subagent_spawning', 'subagent_ended', 'subagent_delivery_target']);
      const { plugin } = bridgedSide(register, { pluginId });
      expect(plugin.hooks.map(({ hookName }) => hookName)).toEqual(hooks);
      expect(plugin.unsupported).toEqual([]);
    });

    it('bind a thread for the child, with everything that is known of it', async () => {
      const { result, bound } = await onBoth(spawn(wanted), ready);
      expect(result).toEqual({ status: 'ok', threadBindingReady: true });
      expect(bound).toEqual([
        {
          accountId: 'work',
          channel: ' Discord ',
          to: 'channel:1',
          threadId: '7',
          ...child,
          label: 'banana',
          boundBy: 'system',
        },
      ]);
    });

    const flags: readonly (readonly [string, Fields, string | undefined])[] = [
      ['are off where nothing switches spawning on', {}, 'spawnSubagentSessions=true'],
      [
        'are off where bindings are off',
        { enabled: false, spawnSubagentSessions: true },
        'bindings are disabled',
      ],
      ['are on where the channel says so', { spawnSubagentSessions: true }, undefined],
    ];
    it.each(flags)('%s', async (_, threadBindings, problem) => {
      const { result, bound } = await onBoth(spawn(wanted), {
        channels: { discord: { threadBindings } },
      });
      if (problem === undefined) expect(result).toEqual({ status: 'ok', threadBindingReady: true });
      else expect(result).toEqual({ status: 'error', error: expect.stringContaining(problem) });
      expect(bound).toHaveLength(problem === undefined ? 1 : 0);
    });

    it('let the account overrule the channel, both ways', async () => {
      for (const spawnSubagentSessions of [true, false]) {
        const threadBindings = { enabled: true, spawnSubagentSessions };
        const base = { enabled: false, spawnSubagentSessions: !spawnSubagentSessions };
        const channels = {
          discord: { threadBindings: base, accounts: { work: { threadBindings } } },
        };
        const { result } = await onBoth(spawn(wanted), { channels });
        expect(result).toMatchObject({ status: spawnSubagentSessions ? 'ok' : 'error' });
      }
    });

    it('say nothing of other channels, nor where no thread is asked for', async () => {
      for (const event of [
        { ...wanted, requester: { ...requester, channel: 'slack' } },
        { ...wanted, threadRequested: false },
      ])
        expect(await onBoth(spawn(event), ready)).toEqual({ result: undefined, bound: [] });
    });

    it('refuse the child where no thread can be bound', async () => {
      const none = await onBoth(spawn(wanted), {
        ...ready,
        prepare: () => (discord.bind = () => null),
      });
      expect(none.result).toEqual({
        status: 'error',
        error: expect.stringContaining('Unable to create'),
      });
      const prepare = () => {
        discord.bind = () => {
          throw new Error('no permission');
        };
      };
      const { result } = await onBoth(spawn(wanted), { ...ready, prepare });
      expect(result).toEqual({
        status: 'error',
        error: 'Discord thread bind failed: no permission',
      });
    });

    it('unbind the threads of a child that has ended', async () => {
      const ended = {
        accountId: 'work',
        targetKind: 'subagent',
        reason: 'done',
        sendFarewell: true,
      };
      const unbound = await onBoth(async ({ runner }) => {
        const event = {
          targetSessionKey: child.childSessionKey,
          ...ended,
          endedAt: 1,
          outcome: 'ok',
        };
        await runner['runSubagentEnded']?.(event, {});
        return [...discord.unbound];
      });
      expect(unbound).toEqual([{ targetSessionKey: child.childSessionKey, ...ended }]);
    });
  },
);

describe.skipIf(root === undefined)('the place of an answer, by both runners', () => {
  const targetSessionKey = child.childSessionKey;
  const asked = {
    childSessionKey: targetSessionKey,
    requesterSessionKey: 'agent:main:main',
    requesterOrigin: { channel: 'discord', accountId: 'work', to: 'channel:1', threadId: '7' },
    expectsCompletionMessage: true,
  };
  const bindings =
    (...threads: readonly (readonly [accountId: string, threadId: string])[]) =>
    () => {
      discord.bindings = threads.map(([accountId, threadId]) => ({
        accountId,
        threadId,
        targetSessionKey,
      }));
    };
  const resolve =
    (event: Fields = asked) =>
    ({ runner }: Side) =>
      Promise.resolve(runner['runSubagentDeliveryTarget']?.(event, {}));
  const at = (accountId: string, threadId: string) => ({
    origin: { channel: 'discord', accountId, to: `channel:${threadId}`, threadId },
  });

  it('is the thread of the child that the requester writes in', async () => {
    const prepare = bindings(['work', '6'], ['work', '7'], ['other', '7']);
    expect(await onBoth(resolve(), { prepare })).toEqual(at('work', '7'));
  });

  it('is the only thread of the child', async () => {
    expect(await onBoth(resolve(), { prepare: bindings(['work', '9']) })).toEqual(at('work', '9'));
  });

  it('is left open where there are several, or none', async () => {
    expect(
      await onBoth(resolve(), { prepare: bindings(['work', '8'], ['work', '9']) }),
    ).toBeUndefined();
    expect(await onBoth(resolve(), { prepare: bindings(['other', '7']) })).toBeUndefined();
  });

  it('is left open where nobody waits for the answer, or on another channel', async () => {
    const prepare = bindings(['work', '7']);
    const silent = { ...asked, expectsCompletionMessage: false };
    const elsewhere = { ...asked, requesterOrigin: { ...asked.requesterOrigin, channel: 'slack' } };
    for (const event of [silent, elsewhere])
      expect(await onBoth(resolve(event), { prepare })).toBeUndefined();
  });
});
