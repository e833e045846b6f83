import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectCancelled, expectPassed, loadForTest } from '../../src/testing/index.js';
import shout from './shout.js';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

describe('the README’s extension', () => {
  it('is the file that is compiled and run here', () => {
    const code = readFileSync(new URL('./shout.ts', import.meta.url), 'utf8');
    expect(readme).toContain(`\`\`\`ts\n${code}\`\`\``);
  });

  it('is complete in twenty lines', () => {
    const code = readFileSync(new URL('./shout.ts', import.meta.url), 'utf8').trimEnd();
    expect(code.split('\n').length).toBeLessThanOrEqual(22);
  });

  it('does what the README says', async () => {
    await using loaded = await loadForTest(shout, { config: { maxLength: 5 } });
    const passed = expectPassed(
      await loaded.dispatch('egress.preparing', { content: 'hello', explicit: true }),
    );
    expect(passed.payload.content).toBe('HELLO');
    expectCancelled(
      await loaded.dispatch('egress.preparing', { content: 'hello there', explicit: true }),
      { code: 'policy', by: 'shout/length' },
    );
  });

  it('has its limits told', () => {
    for (const limit of ['not preempted', 'no sandbox', 'in memory', 'A timeout ends the wait'])
      expect(readme).toContain(limit);
  });
});
