import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

/**
 * The suite that runs unmodified channels of OpenClaw against servers on loopback: `npm run test:channels`. It needs the installed
 * package, and ngircd, so `npm test` leaves it out.
 */
const channels = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: {
    include: ['test/openclaw/installed-channels/**/*.channel.ts'],
    globalSetup: ['test/openclaw/installed-channels/global-setup.ts'],
  },
});
export default channels;
