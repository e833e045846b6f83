import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { starterFiles } from '../../src/cli/init/starter-files.js';
import type { Extension } from '../../src/sdk/extension/index.js';
import { readProjectFile, root, sourceFiles } from '../support/source-tree.js';
import type { TemporaryFolder } from '../support/temporary-folder.js';
import { codeBlocks } from './pages.js';

/** Something that a reader copies: an extension with settings, or a module that makes a kernel. */
export interface Recipe {
  readonly name: string;
  /** The module; read when the recipe is tried. */
  readonly load: () => Promise<{ readonly default?: unknown }>;
  /** It is a module that makes a kernel. */
  readonly makesKernel: boolean;
  /** The settings of an extension. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** A part of a program that contributes a handler with an effect. */
const judges = /\b(?:veto|mutate|augment|resolve)\(|class: '(?:veto|mutator|augmenter|resolver)'/;

/** The settings of the examples that need some. */
const settings: Readonly<Record<string, Recipe['config']>> = {
  approval: { tools: ['lookup'], owner: { channel: 'scripted', to: 'scripted:ada' } },
  'rate-limit': { messages: 100, perMs: 60_000 },
  retrieval: { notes: join(root, 'docs/several-hosts'), pieces: 1 },
  router: { agents: [], short: { characters: 1, model: 'm' } },
  shout: { maxLength: 1_000 },
};

/** The recipes of the pages, of the templates, of `sluice init` and of the packages, as far as their handlers have an effect. */
export function recipes(folder: TemporaryFolder): Recipe[] {
  return [...examples(), ...templates(), starter(folder), ...packages(folder)];
}

function examples(): Recipe[] {
  return sourceFiles('docs/examples')
    .filter(({ text }) => judges.test(text))
    .map(({ path }) => {
      const name = path.replace(/^.*\/|\.ts$/g, '');
      return { ...recipeOf(path), ...(settings[name] && { config: settings[name] }) };
    });
}

function templates(): Recipe[] {
  return sourceFiles('extensions/create-sluice/templates')
    .filter(({ path, text }) => path.endsWith('src/index.ts') && judges.test(text))
    .map(({ path }) => recipeOf(path));
}

const recipeOf = (path: string): Recipe => ({
  name: path,
  load: () => import(join(root, path)),
  makesKernel: /^const kernel = createKernel|^export const kernel/m.test(readProjectFile(path)),
});

function starter(folder: TemporaryFolder): Recipe {
  const files = starterFiles({ name: 'bot', source: '*' });
  const name = 'extensions/guard.ts';
  folder.write(name, files[name] ?? '');
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  const load = () => import(join(folder.path, name));
  return { name: 'sluice init', load, makesKernel: false, config: { signature: 'me' } };
}

/** The packages, with the settings that their pages show. Those of policies are the rules of the pages. */
function packages(folder: TemporaryFolder): Recipe[] {
  folder.write('policies.yaml', rulesOf('docs/judgement.md', 'extensions/policies/README.md'));
  const policies = { policies: [join(folder.path, 'policies.yaml')] };
  return readdirSync(join(root, 'extensions')).flatMap((name) => {
    const source = `extensions/${name}/src/index.ts`;
    const offersOne =
      existsSync(join(root, source)) && /^export default /m.test(readProjectFile(source));
    const files = offersOne ? sourceFiles(`extensions/${name}/src`) : [];
    if (name === 'create-sluice' || !files.some(({ text }) => judges.test(text))) return [];
    const shown = codeBlocks(readProjectFile(`extensions/${name}/README.md`), 'json')
      .map(({ code }) => JSON.parse(code) as Record<string, unknown>)
      .filter((block) => !('extensions' in block));
    const [config = name === 'policies' ? policies : {}] = shown;
    return [{ ...recipeOf(source), name: `sluice-${name}`, config }];
  });
}

/** The rules of some pages, each once. */
function rulesOf(...pages: readonly string[]): string {
  const rules = pages.flatMap((page) => codeBlocks(readProjectFile(page), 'yaml'));
  return [...new Set(rules.map(({ code }) => code))].join('\n');
}

export function isExtension(value: unknown): value is Extension {
  return typeof value === 'object' && value !== null && 'setup' in value && 'id' in value;
}
