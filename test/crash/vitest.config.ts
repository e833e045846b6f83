import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The suite that kills hosts: `npm run test:crash`. CRASH_ROUNDS says how often; 60 where unsaid. */
const crash = mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
});
crash.test.include = ['test/crash/**/*.crash.ts']; // in place of the base's, not beside it

export default crash;
