import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

const isNewest = process.env['CLAUDE_SDK'] === 'newest';

/** The suite that runs the real Claude Agent SDK: `npm run test:claude`. It needs it, so `npm test` leaves it out. */
const claude = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: {
    include: [
      'test/claude/installed/**/*.claude.ts',
      ...(isNewest ? ['test/claude/**/*.test.ts'] : []),
    ],
    globalSetup: ['test/claude/installed/install-sdk.ts'],
  },
});
export default claude;
