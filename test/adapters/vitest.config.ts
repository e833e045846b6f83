import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.shared.js';
import { aliasesOf, installFrameworks } from './frameworks.js';

const needsNode = 22;

/** Says so on an older Node, and never runs there in CI. */
function checkNode(): void {
  if (Number.parseInt(process.versions.node, 10) >= needsNode) return;
  const line = `the AI SDK and the OpenAI Agents SDK need Node ${needsNode}: this is ${process.version}`;
  if (process.env['CI'] === 'true') throw new Error(line);
  console.warn(`test:adapters: ${line}`);
}

/** The job that runs the adapters in their frameworks: `npm run test:adapters`. */
export default defineConfig(async () => {
  checkNode();
  return mergeConfig(
    base,
    defineConfig({
      root: fileURLToPath(new URL('../../', import.meta.url)),
      resolve: { alias: aliasesOf(await installFrameworks()) },
      test: { include: ['test/adapters/**/*.adapter.ts'], isolate: false },
    }),
  );
});
