import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';
import { packageCache } from '../support/package-cache.js';

const scratch = join(tmpdir(), `sluice-parity-${process.pid}`);

/** The suites that compare with the real OpenClaw package: `npm run test:parity`. They need it, so `npm test` leaves them out. */
const parity = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  resolve: {
    // what the subagent hooks import; the package's own needs dependencies that are not installed
    alias: [
      {
        find: 'openclaw/plugin-sdk/discord',
        replacement: fileURLToPath(new URL('./plugins/discord-sdk.ts', import.meta.url)),
      },
    ],
  },
  test: {
    include: ['test/parity/**/*.parity.ts'],
    globalSetup: ['test/parity/global-setup.ts'],
    env: {
      // what the package's modules write goes here, never into a home directory
      HOME: scratch,
      OPENCLAW_STATE_DIR: join(scratch, 'state'),
      XDG_CACHE_HOME: dirname(packageCache()),
    },
  },
});
export default parity;
