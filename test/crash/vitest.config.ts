import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';

/** The suite that kills hosts: `npm run test:crash`. CRASH_ROUNDS says how often; 60 where unsaid. */
const crash = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: { include: ['test/crash/**/*.crash.ts'] },
});
export default crash;
