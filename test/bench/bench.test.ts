import { describe, expect, it } from 'vitest';
import { workOfFrames } from './frames.mjs';
import { runOnce } from './once.mjs';
import { type Steps, stepsOf } from './steps.mjs';

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
const loadKernel = () => import('../../src/kernel/index.js');

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

  const counted: Readonly<Record<string, Omit<Steps, 'wall'>>> = {
    'observers-0': { freezes: 0, monotonic: 0, promises: 1 },
    'observers-20': { freezes: 1, monotonic: 0, promises: 1 },
    'async-observers-20': { freezes: 1, monotonic: 0, promises: 41 }, // two for each handler: its own, and what `then` makes
    'sync-mutators-20': { freezes: 1, monotonic: 0, promises: 0 },
    'mutators-20': { freezes: 1, monotonic: 0, promises: 1 },
    'async-mutators-20': { freezes: 1, monotonic: 0, promises: 3 }, // up to the first wait
  };
  it.each(Object.entries(counted))(
    '%s: one dispatch freezes, waits and reads the clock as often as it should',
    async (id, expected) => {
      expect(await stepsOf(id, loadKernel)).toMatchObject(expected);
    },
  );

  it('takes the same frames, whatever it makes of them', async () => {
    const csdk = {
      ...(await import('../../src/csdk/index.js')),
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
