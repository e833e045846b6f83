import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';

/** The suite on a real PostgreSQL: `npm run test:postgres`. It fetches the packages of Debian if the machine has none. */
const postgres = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['test/postgres/**/*.postgres.ts'],
    globalSetup: ['test/postgres/global-setup.ts'],
  },
});
export default postgres;
