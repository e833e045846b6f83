import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

/** The suite that runs the guard with real programs: `npm run test:guard`. It fetches them, so `npm test` leaves it out. */
const guard = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: { include: ['test/guard/installed/**/*.guard.ts'] },
});
export default guard;
