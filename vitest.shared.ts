import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const src = fileURLToPath(new URL('./src/', import.meta.url));

/** The configuration that all suites share. */
export default defineConfig({
  resolve: {
    // by package name, as an author imports it, and from the source, so that no build has to come first
    alias: [
      { find: /^sluice$/, replacement: `${src}index.ts` },
      { find: /^sluice\/([a-z]+)$/, replacement: `${src}$1/index.ts` },
    ],
  },
  test: {
    globalSetup: ['test/support/fresh-dist.ts'],
    // a bound for what hangs, not a measure: no test's outcome depends on how fast the machine is
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
