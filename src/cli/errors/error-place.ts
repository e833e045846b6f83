import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisCopy } from '../../extension/internal.js';
import { CommandError } from './command-error.js';

/** The folders of this package's own code: an error that is thrown there has its reason elsewhere. */
const own = ['dist', 'src'].map((name) => `${join(thisCopy.folder, name)}${sep}`);

/**
 * Finds the file and line that an error of an extension or a plugin comes from: the first frame of its innermost cause that is
 * neither Node's nor this package's.
 *
 * @returns such as `/srv/bot/guard.mjs:12:9`; `undefined` if there is no such frame.
 */
export function placeOf(thrown: unknown): string | undefined {
  if (thrown instanceof CommandError) return undefined; // its text names the option or the file
  const seen = new Set<unknown>();
  let place: string | undefined;
  for (let at = thrown; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    place = placeIn(String(at.stack)) ?? place;
  }
  return place;
}

/** Finds the place in a stack: a syntax error has it before its text, any other error in a frame. */
function placeIn(stack: string): string | undefined {
  const lines = stack.split('\n');
  const syntax = /^((?:file:\/\/)?\/[^:]*:\d+)$/.exec(lines[0] ?? '')?.[1];
  const frames = lines.flatMap((line) => {
    const place = /^ {4}at (?:.* \()?((?:file:\/\/|\/|[A-Za-z]:\\).+:\d+:\d+)\)?$/.exec(line)?.[1];
    return place === undefined ? [] : [place];
  });
  return [...(syntax === undefined ? [] : [syntax]), ...frames]
    .map(pathOf)
    .find(
      (path) => !own.some((folder) => path.startsWith(folder)) && !path.includes('/node_modules/'),
    );
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
