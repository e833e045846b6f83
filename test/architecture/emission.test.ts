import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/index.js';

describe('the emission site of a family', () => {
  it.each(canonicalStages.map((stage) => [stage.family, stage.emittedAt]))(
    '%s is where its row says (§2.5)',
    (family, emittedAt) => {
      const file = /^(src\/[\w/-]+\.ts)/.exec(emittedAt)?.[1];
      expect(file, `"${emittedAt}" names no file`).toBeDefined();
      const code = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      expect(code).toContain(`'${family}'`);
    },
  );
});
