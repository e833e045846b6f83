import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

/** The suite that compares reply callbacks with the real package: `npm run test:callbacks`. It needs a large install. */
const callbacks = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: {
    include: ['test/openclaw/installed-replies/**/*.parity.ts'],
    globalSetup: ['test/openclaw/installed-replies/global-setup.ts'],
  },
});
export default callbacks;
