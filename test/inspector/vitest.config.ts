import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';

/** The suite that uses the pages of the inspector and of `sluice-http` in a real Chromium: `npm run test:inspector`. It needs the browser, so `npm test` leaves it out. */
export default mergeConfig(base, {
  root: fileURLToPath(new URL('../../', import.meta.url)),
  test: {
    include: ['extensions/inspector/test/browser/**/*.browser.ts', 'test/inspector/*.browser.ts'],
    fileParallelism: false, // a browser wants a processor of its own
    expect: { poll: { timeout: 30_000 } },
  },
});
