import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Every command of the first pages, in a new clone and an empty folder beside it, and the day of an operator: `npm run
 * test:newcomer`. It installs packages, so `npm test` leaves it out. It does not need the shared configuration.
 */
export default defineConfig({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['test/newcomer/*.newcomer.ts'],
    testTimeout: 1_800_000, // one of the commands may be `npm test`
  },
});
