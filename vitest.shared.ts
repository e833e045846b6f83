import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const src = fileURLToPath(new URL('./src/', import.meta.url));
const judge = fileURLToPath(new URL('./extensions/judge/src/index.ts', import.meta.url));
const policies = fileURLToPath(new URL('./extensions/policies/src/index.ts', import.meta.url));
const support = fileURLToPath(new URL('./test/support/', import.meta.url));

/** The configuration that all suites share. */
export default defineConfig({
  resolve: {
    // by package name, as an author imports it, and from the source, so that no build has to come first
    alias: [
      { find: /^sluice$/, replacement: `${src}index.ts` },
      { find: /^sluice\/([a-z]+)$/, replacement: `${src}$1.ts` },
      { find: /^sluice-kernel$/, replacement: `${src}kernel/index.ts` },
      { find: /^sluice-kernel\/([a-z-]+)$/, replacement: `${src}kernel/$1.ts` },
      { find: /^sluice-judge$/, replacement: judge },
      { find: /^sluice-policies$/, replacement: policies },
      { find: /^fast-check$/, replacement: `${support}fast-check.ts` },
    ],
  },
  test: {
    // two also on two processors, where one is usual: many tests wait for a process that they started
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['test/support/fresh-dist.ts'],
    // a bound for what hangs, not a measure: no test's outcome depends on how fast the machine is
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // errors that tests mean to see are no news here
    onConsoleLog: (text) => !text.startsWith('sluice: error: '),
    expect: { poll: { timeout: 60_000 } },
  },
});
