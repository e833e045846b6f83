import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

/** The suite that runs real coding agents against models on loopback, and real servers of MCP: `npm run test:guard`. */
export default mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: { include: ['test/guard/installed/**/*.guard.ts'] },
});
