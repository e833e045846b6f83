import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';
import { aliasesOf, installFrameworks } from './frameworks.js';

/** The job that runs the adapters in their frameworks: `npm run test:adapters`. */
export default defineConfig(async () =>
  mergeConfig(
    base,
    defineConfig({
      root: fileURLToPath(new URL('../../', import.meta.url)),
      resolve: { alias: aliasesOf(await installFrameworks()) },
      test: { include: ['test/adapters/**/*.adapter.ts'], isolate: false },
    }),
  ),
);
