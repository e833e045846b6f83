import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite that runs the real gateway of OpenClaw: `npm run test:gateway`. It needs it, so `npm test` leaves it out. */
const gateway = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    globalSetup: ['test/openclaw-gateway/global-setup.ts'],
  },
});
gateway.test.include = ['test/openclaw-gateway/**/*.gateway.ts']; // in place of the base's, not beside it

export default gateway;
