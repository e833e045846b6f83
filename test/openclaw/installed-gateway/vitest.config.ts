import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';
import { newest, pinned } from './releases.js';

const isNewest = process.env['OPENCLAW'] === 'newest';
const isWhole = isNewest || process.env['GATEWAY_SUITE'] === 'whole';

/** The tools of plugins and the importer need no gateway: they are tried with the release that "legacy" means. */
const ofMarch = ['**/plugin-tools.gateway.ts', '**/import.gateway.ts'];

/** A gateway of protocol 4 takes long to start: what starts it more than once is left out of the short form. */
const startsOften = ['**/crash.gateway.ts', '**/cli.gateway.ts'];

/**
 * The suite that runs real gateways of OpenClaw, each release in a project of its own: `npm run test:gateway`. It needs them,
 * so `npm test` leaves it out. `GATEWAY_SUITE=whole` has all of it for each release, `OPENCLAW=newest` for the newest of npm
 * alone.
 */
const gateway = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: {
    projects: (isNewest ? [newest] : pinned).map(({ version, protocol }) => ({
      extends: true,
      test: {
        name: version,
        include: ['test/openclaw/installed-gateway/**/*.gateway.ts'],
        exclude: protocol === 3 ? [] : [...ofMarch, ...(isWhole ? [] : startsOften)],
        globalSetup: ['test/openclaw/installed-gateway/global-setup.ts'],
      },
    })),
  },
});
export default gateway;
