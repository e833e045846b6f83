import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite that runs the real Claude Agent SDK: `npm run test:claude`. It needs it, so `npm test` leaves it out. */
const claude = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    globalSetup: ['test/claude/install-sdk.ts'],
  },
});
claude.test.include = ['test/claude/**/*.claude.ts']; // in place of the base's, not beside it

export default claude;
