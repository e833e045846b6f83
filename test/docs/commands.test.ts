import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProjectFile, root } from '../support/source-tree.js';
import { commandsOf, problemOf } from './commands.js';
import { codeBlocks, inlineCodeOf } from './pages.js';

const readmes = [
  'src/kernel/README.md',
  ...readdirSync(join(root, 'extensions')).map((name) => `extensions/${name}/README.md`),
];
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`), ...readmes];

async function problemsOf(lines: readonly string[]): Promise<string[]> {
  const commands = lines.flatMap((line) => commandsOf(line));
  const problems = await Promise.all(commands.map((words) => problemOf(words)));
  return problems.flatMap((problem, at) =>
    problem === undefined ? [] : `${commands[at]?.join(' ')}: ${problem}`,
  );
}

describe('the commands of the pages', () => {
  it.each(pages)('are there, with each flag, in the blocks of %s', async (page) => {
    const lines = codeBlocks(readProjectFile(page), 'sh').flatMap(({ code }) => code.split('\n'));
    expect(await problemsOf(lines)).toEqual([]);
  });

  it.each(pages)('are there, with each flag, in the sentences of %s', async (page) => {
    const commands = inlineCodeOf(readProjectFile(page)).filter((code) =>
      /^(?:sluice|npx|npm|\.ci\/run) /.test(code),
    );
    expect(await problemsOf(commands)).toEqual([]);
  });
});

describe('the check of commands', () => {
  it.each([
    ['npx sluice rum', 'no such command: sluice rum'],
    ['sluice run --channel telegram --api-rot a', 'no such flag: --api-rot'],
    ['sluice run --jurnal ./a.db', 'no such flag: --jurnal'],
    ['npm start -- --extention ./a.ts', 'no such flag: --extention'],
    ['npm run tset', 'no such script: tset'],
    ['npm run bench -- --quik', 'no such flag: --quik'],
    ['npx vitest run test/kernal', 'no such path: test/kernal'],
    ['.ci/run --longer', 'no such flag: --longer'],
    ['sluice-ownership --hots 0.0.0.0', 'no such flag: --hots'],
    ['echo hi | slucie run', 'unknown command: slucie'],
  ])('refuses: %s', async (line, problem) => {
    expect(await problemsOf([line])).toEqual([expect.stringContaining(problem)]);
  });
});
