import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { oldBytesOfMessage } from './born-old.mjs';
import { workOfFrames } from './frames.mjs';
import { hiddenClassesOfMessage } from './hidden-classes.mjs';
import { lineHost, stepsOfMessage } from './line-host.mjs';
import { runOnce } from './once.mjs';
import { bytesOfStreams } from './open-streams.mjs';
import { stepsOf } from './steps.mjs';

const contenders = ['sluice', 'tapable', 'hookable', 'openclaw-style'];
const scenarios = [
  'observers-0',
  'observers-1',
  'observers-5',
  'async-observers-5',
  'sync-mutators-5',
  'mutators-5',
  'async-mutators-5',
  'veto',
  'mixed',
];
const loadKernel = () => import('../../src/kernel/internal.js');

describe('the benchmark', () => {
  for (const scenario of scenarios)
    it.each(contenders)(`${scenario}: %s does the work of the floor`, async (contender) => {
      const expected = await runOnce(scenario, 'floor', loadKernel);
      expect(await runOnce(scenario, contender, loadKernel)).toEqual(expected);
    });

  it('does what its scenarios say', async () => {
    const text = 'the quick brown fox';
    expect(await runOnce('observers-5', 'floor', loadKernel)).toEqual({ calls: 5, chars: 95 });
    expect((await runOnce('mutators-5', 'floor', loadKernel)).texts).toEqual(
      [`${text}a`, 'consoleb', 'mainc', 'u-17d', 'Adae', 'c-4', 'm-1', 't-1'], // a field each
    );
    const veto = await runOnce('veto', 'floor', loadKernel);
    expect([veto.calls, veto.cancelled]).toEqual([5, 'quiet-hours']);
    expect(await runOnce('mixed', 'floor', loadKernel)).toMatchObject({
      calls: 5,
      content: `${text}a`,
      topic: 'Ada',
      route: 'console',
    });
  });

  /** Freezes, promises, and rounds of microtasks until the caller goes on. The clocks are read once, and not at all. */
  const counted: readonly (readonly [string, number, number, number])[] = [
    ['observers-0', 0, 1, 1],
    ['observers-20', 1, 1, 1],
    ['async-observers-1', 1, 3, 1], // two promises for each handler: its own, and what `then` makes
    ['async-observers-20', 1, 41, 1],
    ['sync-mutators-20', 1, 0, 1],
    ['mutators-20', 1, 1, 1],
    ['async-mutators-1', 1, 3, 1],
    ['async-mutators-20', 1, 3, 20], // promises up to the first wait; a round for each handler, as in the floor
    ['veto', 2, 1, 1],
  ];
  it.each(counted)(
    '%s: one dispatch makes %i freezes and %i promises, and takes %i rounds of microtasks',
    async (id, freezes, promises, rounds) => {
      expect(await stepsOf(id, loadKernel)).toEqual({
        freezes,
        wall: 1,
        monotonic: 0, // once for all waits of a turn, after it, and only if one is left
        promises,
        rounds,
      });
    },
  );

  it('a message makes as few promises and dispatches as it should, with a journal and without one', async () => {
    const modules = {
      ...(await import('../../src/host.js')),
      ...(await import('../../src/agent/index.js')),
      ...(await import('../../src/kernel/internal.js')),
    };
    const alone = await lineHost(modules);
    const ofAlone = await stepsOfMessage(alone);
    expect(ofAlone.dispatches).toBe(33);
    // a store that lets no write wait is waited for, write by write (durability §6.12)
    expect(ofAlone.promises).toBeLessThanOrEqual(329);
    await alone.host.stop();
    const kept = await lineHost(modules, { journal: modules.memoryJournal() });
    const ofKept = await stepsOfMessage(kept);
    expect(ofKept.dispatches).toBe(33);
    expect(ofKept.promises).toBeLessThanOrEqual(393);
    await kept.host.stop();
  });

  // later versions of V8 were not measured
  it.runIf(process.versions.node.startsWith('20.'))(
    'a message makes few hidden classes: no literal adds fields to an object that was spread, or has a getter',
    () => {
      const { perMessage, inAll } = hiddenClassesOfMessage();
      expect(inAll).toBeGreaterThan(1_000);
      expect(perMessage).toBeLessThanOrEqual(10); // 3 of them are those of Node's signals
    },
  );

  it.runIf(process.versions.node.startsWith('20.')).each([
    ['plain', 6_000],
    ['echo', 6_500],
  ] as const)(
    'a message with a %s agent leaves at most %i bytes in the old generation: its rows, and nothing that was born there',
    (agent, most) => {
      const bytes = oldBytesOfMessage(agent);
      expect(bytes).toBeGreaterThan(1_000); // of its conversation: else nothing was counted
      expect(bytes).toBeLessThanOrEqual(most);
    },
  );

  it.each([
    ['text', 6_000], // the text itself, and its copies
    ['thinking', 6_000],
    ['progress', 200], // of which only the newest is kept
  ] as const)(
    'an open stream of %s keeps at most %i bytes for 1,000 more pieces, and gives them back',
    (kind, most) => {
      const { grown, left, updates } = bytesOfStreams(kind);
      expect(grown).toBeLessThanOrEqual(most);
      expect(left).toBeLessThan(60_000); // of what all of them have made once, too
      expect(updates > 1_000).toBe(kind !== 'progress'); // it was shown while it grew
      expect(bytesOfStreams(kind, true).grown).toBeGreaterThan(20 * most);
    },
  );

  it('takes the same frames, whatever it makes of them', async () => {
    const csdk = {
      ...(await import('../../src/claude/index.js')),
      ...(await import('../../src/index.js')),
    };
    const parsed = await workOfFrames('parse', csdk);
    expect(parsed.made).toBe(parsed.frames);
    for (const id of ['normalizeSession', 'coderStream', 'bridgeCsdk']) {
      const work = await workOfFrames(id, csdk);
      expect(work.frames, id).toBe(parsed.frames);
      expect(work.made, id).toBeGreaterThan(parsed.frames / 2);
    }
  });
});
