import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce, npm } from '../support/package-cache.js';
import { root } from '../support/source-tree.js';

/** The frameworks of the adapters, as they are tried. They are heavy, and two need Node 22, so no `npm ci` brings them. */
const versions = {
  '@langchain/core': '1.4.0',
  '@openai/agents': '0.20.0',
  ai: '7.0.173',
  langchain: '1.5.14',
  zod: '4.6.7',
} as const;

/** The entries that tests and adapters import, as the packages' own maps name them. */
const entries = {
  ai: 'ai/dist/index.js',
  'ai/test': 'ai/dist/test/index.js',
  '@openai/agents': '@openai/agents/dist/index.mjs',
  '@openai/agents/testing': '@openai/agents/dist/testing/index.mjs',
  langchain: 'langchain/dist/index.js',
  '@langchain/core/messages': '@langchain/core/dist/messages/index.js',
  '@langchain/core/language_models/chat_models':
    '@langchain/core/dist/language_models/chat_models.js',
  '@langchain/core/testing': '@langchain/core/dist/testing/index.js',
  '@langchain/langgraph': '@langchain/langgraph/dist/index.js',
} as const;

/** The versions in one word: the folder of another set is another one. */
const named = Object.values(versions).join('-');

/**
 * Installs the frameworks in a cache outside of the repository, once per machine.
 *
 * @returns the folder whose `node_modules` holds them. Rejects with npm's own words if they cannot be installed.
 */
export async function installFrameworks(): Promise<string> {
  return await installOnce(`frameworks-${named}`, async (staging) => {
    const manifest = { private: true, type: 'module', dependencies: versions };
    await writeFile(join(staging, 'package.json'), JSON.stringify(manifest));
    await npm(['install', '--ignore-scripts'], staging);
  });
}

/** The aliases by which a test finds them, and the adapters in their source. */
export function aliasesOf(folder: string): { find: RegExp; replacement: string }[] {
  const adapters = ['ai-sdk', 'openai-agents', 'langchain'].map((name) => ({
    find: new RegExp(`^sluice-${name}$`),
    replacement: join(root, 'extensions', name, 'src/index.ts'),
  }));
  const frameworks = Object.entries(entries).map(([name, file]) => ({
    find: new RegExp(`^${name}$`),
    replacement: join(folder, 'node_modules', file),
  }));
  return [...adapters, ...frameworks];
}

/** The declarations of the frameworks, as `paths` of a tsconfig. */
export function pathsOf(folder: string): Record<string, string[]> {
  const typed = { ...entries, zod: 'zod/index.js' };
  return Object.fromEntries(
    Object.entries(typed).map(([name, file]) => [
      name,
      [join(folder, 'node_modules', file.replace(/\.m?js$/, '.d.ts'))],
    ]),
  );
}
