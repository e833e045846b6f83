import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

/** The suite that runs the real gateway of OpenClaw: `npm run test:gateway`. It needs it, so `npm test` leaves it out. */
const gateway = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: {
    include: ['test/openclaw/installed-gateway/**/*.gateway.ts'],
    globalSetup: ['test/openclaw/installed-gateway/global-setup.ts'],
  },
});
export default gateway;
