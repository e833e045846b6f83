import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite that compares reply callbacks with the real package: `npm run test:callbacks`. It needs a large install. */
const callbacks = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: { globalSetup: ['test/reply-parity/global-setup.ts'] },
});
callbacks.test.include = ['test/reply-parity/**/*.parity.ts']; // in place of the base's, not beside it

export default callbacks;
