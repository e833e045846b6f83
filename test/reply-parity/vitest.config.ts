import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';

/** The suite that compares reply callbacks with the real package: `npm run test:callbacks`. It needs a large install. */
const callbacks = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['test/reply-parity/**/*.parity.ts'],
    globalSetup: ['test/reply-parity/global-setup.ts'],
  },
});
export default callbacks;
