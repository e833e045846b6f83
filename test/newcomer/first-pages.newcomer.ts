import { cpSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../docs/pages.js';
import { readProjectFile } from '../support/source-tree.js';
import { newcomer } from './newcomer.js';

/** The folder in which `npm run pack:all` has packed this source before, so that it need not be packed again. */
const packed = process.env['NEWCOMER_PACKED'];
/** Leaves nothing out: all tests, all of the packing, by a user without a home and with empty caches. */
const isWhole = process.env['NEWCOMER'] === 'whole';

interface Line {
  readonly line: string;
  readonly isInClone: boolean;
}

/** The lines of the blocks of a page, in order. A block that says `clone` is for the clone, any other for a folder beside it. */
function linesOf(page: string): Line[] {
  return [...page.matchAll(/^```sh( clone)?\n([\s\S]*?)^```$/gm)].flatMap(
    ({ 1: clone, 2: code = '' }) =>
      code
        .trimEnd()
        .split('\n')
        .map((line) => ({ line: line.replace(/\s+#.*$/, ''), isInClone: clone !== undefined })),
  );
}

/** Saves the extensions of a page in a folder, each in a file of its name. */
function saveExtensions(page: string, folder: string): void {
  for (const { code } of codeBlocks(page, 'ts')) {
    const [, id] = /defineExtension\(\{\s*id: '([\w-]+)'/.exec(code) ?? [];
    if (id !== undefined) writeFileSync(join(folder, `${id}.ts`), code);
  }
}

const person = newcomer({ isStranger: isWhole });
afterAll(() => person[Symbol.dispose](), 300_000); // a slow disk takes long to delete what was installed

/** The commands that have made something in the clone, which is as it was after that. */
const done = new Set<string>();

/** The line as it is run: what was done is not done again, and of all tests of the clone a few are run. */
function asRun(line: string, isInClone: boolean): string {
  if (isWhole || !isInClone) return line;
  const parts = line.split(' && ').map((part) => {
    if (part === 'npm test') return 'npm test -- test/kernel/merge';
    if (part === 'npm run pack:all' && packed !== undefined)
      cpSync(packed, join(person.clone, 'packed'), { recursive: true });
    else if (!['npm ci', 'npm run pack:all'].includes(part) || !done.has(part)) {
      done.add(part);
      return part;
    }
    return 'true';
  });
  return parts.join(' && ');
}

describe.each(['README.md', 'docs/getting-started.md'])('the commands of %s', (name) => {
  const page = readProjectFile(name);
  const beside = person.emptyFolder(basename(name, '.md'));
  for (const folder of [person.clone, beside]) saveExtensions(page, folder);

  it.each(linesOf(page))('work for a newcomer: $line', async ({ line, isInClone }) => {
    const cwd = isInClone ? person.clone : beside;
    const { code, output } = await person.run(asRun(line, isInClone), cwd);
    expect([code, output]).toEqual([0, expect.anything()]);
    if (/sluice run|npm start/.test(line)) expect(output).toMatch(/^hello$/im);
    if (/npm test/.test(line)) expect(output).toMatch(/Tests +\d+ passed/);
  });
});
