import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisCopy } from '@sluice/sdk/extension/internal';

/** The folders of this package's own code: an error that is thrown there has its reason elsewhere. */
const own = ['dist', 'src'].map((name) => `${join(thisCopy.folder, name)}${sep}`);

/**
 * Finds the place that an error comes from in the code of an author, which is neither Node's nor this package's nor that of an
 * installed one: the first such place of the innermost cause that has one.
 *
 * @returns such as `/srv/bot/guard.mjs:12:9`; `undefined` if there is no such place.
 */
export function authorPlace(thrown: unknown): string | undefined {
  return causesOf(thrown)
    .map((error) => placesIn(error).find(isOfAuthor))
    .findLast((place) => place !== undefined);
}

function isOfAuthor(path: string): boolean {
  return !own.some((folder) => path.startsWith(folder)) && !path.includes('/node_modules/');
}

/** Returns an error and its causes, as far as they are told. */
export function causesOf(thrown: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let at = thrown; at instanceof Error && found.length < 5; at = at.cause) found.push(at);
  return found;
}

/**
 * Finds the files, lines and columns in a stack. The message comes before the frames, and could look like one. A syntax error
 * has its place before its message. The stack has the name that the error was made with, and the code of an error of Node.
 */
export function placesIn({ stack, message }: Error): readonly string[] {
  if (typeof stack !== 'string') return [];
  const [name = ''] = /^[\w$.]+(?: \[\w+\])?/.exec(stack) ?? [];
  const heading = message === '' ? name : `${name}: ${message}`;
  const rest = stack.startsWith(heading) ? stack.slice(heading.length) : stack.replace(/\n.*/s, '');
  const lines = /^(?: {4}at (?:.* \()?)?((?:file:\/\/|\/|[A-Za-z]:\\).+?(?::\d+)+)\)?$/gm;
  return Array.from(rest.matchAll(lines), ([, place = '']) => pathOf(place));
}

/** Takes away the query that a reload adds to a URL. */
function pathOf(place: string): string {
  const [, file = '', at = ''] = /^(.*?)(?:\?[^:]*)?((?::\d+)+)$/.exec(place) ?? [];
  try {
    return `${file.startsWith('file:') ? fileURLToPath(file) : file}${at}`;
  } catch {
    return place;
  }
}
