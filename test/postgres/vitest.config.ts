import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';

/**
 * The suite on a real PostgreSQL: `npm run test:postgres`. It fetches the packages of Debian if the machine has none. The files of
 * `pgbouncer` run once more through a PgBouncer in transaction mode, all of them with `POSTGRES_THROUGH=pgbouncer`.
 */
const postgres = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    projects: Object.entries({
      postgres: ['test/postgres/**/*.postgres.ts'],
      pgbouncer:
        process.env['POSTGRES_THROUGH'] === 'pgbouncer'
          ? ['test/postgres/**/*.postgres.ts']
          : ['test/postgres/{journal,shared,hints,statements}.postgres.ts'],
    }).map(([name, include]) => ({
      extends: true,
      test: { name, include, globalSetup: ['test/postgres/global-setup.ts'] },
    })),
  },
});
export default postgres;
