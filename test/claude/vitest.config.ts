import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';

const isNewest = process.env['CLAUDE_SDK'] === 'newest';

/** The suite that runs the real Claude Agent SDK: `npm run test:claude`. It needs it, so `npm test` leaves it out. */
const claude = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['test/claude/**/*.claude.ts', ...(isNewest ? ['test/csdk/**/*.test.ts'] : [])],
    globalSetup: ['test/claude/install-sdk.ts'],
  },
});
export default claude;
