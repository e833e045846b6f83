import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { landingPage } from './landing.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));
/** The pages that the site is built from: copies, and the pages of the API. It is not kept in git. */
export const staged = fileURLToPath(new URL('pages/', import.meta.url));

const inFolder = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

/** Every page of the repository that is on the site, from the root. */
export const sources: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...inFolder('docs'),
  ...inFolder('spec'),
  ...inFolder('spec/pilots'),
  ...readdirSync(join(root, 'extensions')).map((name) => `extensions/${name}/README.md`),
];

/** The place of a page on the site. The README is the first page; every other one keeps its place, and so its links. */
export const placeOf = (source: string): string => (source === 'README.md' ? 'index.md' : source);

export function stagePage(source: string): void {
  const target = join(staged, placeOf(source));
  mkdirSync(dirname(target), { recursive: true });
  const text = readFileSync(join(root, source), 'utf8');
  writeFileSync(target, source === 'README.md' ? landingPage(text) : text);
}

export function stagePages(): void {
  rmSync(staged, { recursive: true, force: true });
  for (const source of sources) stagePage(source);
  cpSync(join(root, 'docs/pictures'), join(staged, 'docs/pictures'), { recursive: true });
}

/** The page of the repository that a path of the file system names, if it is on the site. */
export function sourceAt(path: string): string | undefined {
  return sources.find((source) => source === relative(root, path));
}
