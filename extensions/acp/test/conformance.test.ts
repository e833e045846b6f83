import { agentConformance } from 'sluice/testing';
import { describe, it } from 'vitest';
import { acpLab } from './acp-lab.js';

describe('an agent that speaks the Agent Client Protocol', () => {
  const checks = agentConformance(
    () => {
      const lab = acpLab();
      return {
        ...{ provider: lab.provider, text: 'hello', tool: 'tool' },
        ...{ endless: 'endless', failure: 'fail' },
        toolRuns: () => lab.ran().filter((line) => line.startsWith('run')).length,
        [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
      };
    },
    { timeoutMs: 120_000 },
  );
  for (const { name, run } of checks) it(name, run);
});
