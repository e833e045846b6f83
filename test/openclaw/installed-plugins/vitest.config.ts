import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.shared.js';

/** The job that tries published plugins: `npm run test:plugins`, and `PLUGINS=all npm run test:plugins`. */
const plugins = mergeConfig(base, {
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: { include: ['test/openclaw/installed-plugins/**/*.trial.ts'], maxConcurrency: 4 },
});
export default plugins;
