import { describe, expect, it } from 'vitest';
import {
  type LegacyDivergenceName,
  legacyDivergences,
  legacyHookNames,
} from '../../src/openclaw/index.js';
import { compareRuns } from '../../src/openclaw/parity/index.js';
import { type DivergenceExample, divergences, type Example } from './divergences.js';
import { Rejections } from './hooks/observe.js';
import { Pipeline } from './hooks/pipeline.js';
import { predict } from './model/model.js';
import { everyRow } from './model/rows.js';

const rows = Object.entries(divergences) as [LegacyDivergenceName, DivergenceExample][];

describe('a divergence', () => {
  it.each(rows)(
    '%s: differs in exactly what its example says, and no other row is concerned',
    async (name, { set, differences, unhandled = [] }) => {
      using rejections = new Rejections();
      const ours = await new Pipeline(rejections).observe(set);
      const legacy = predict(set);
      const bridged = predict(set, everyRow);
      expect(compareRuns(legacy.seen, ours)).toEqual(differences);
      expect([legacy.seen.unhandled, ours.unhandled]).toEqual([unhandled, []]);
      expect([...bridged.used]).toEqual([name]);
      expect(compareRuns(bridged.seen, ours)).toEqual([]);
    },
  );

  it('names hooks that there are, and concerns the one of its example', () => {
    for (const { name, hooks, profiles } of legacyDivergences) {
      const names = profiles.flatMap((profile) => [...legacyHookNames[profile]]);
      const all = Object.values(legacyHookNames).flat();
      expect(profiles.length > 1 ? all : names).toEqual(expect.arrayContaining([...hooks]));
      if (name in divergences) expect(hooks).toContain(divergences[name as Example].set.hook);
    }
  });
});
