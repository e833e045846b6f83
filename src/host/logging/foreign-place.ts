import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisCopy } from '../../extension/internal.js';

/** The folders of this package's own code: an error that is thrown there has its reason elsewhere. */
const own = ['dist', 'src'].map((name) => `${join(thisCopy.folder, name)}${sep}`);

/**
 * Finds the first place in a stack, or in its frames, that is neither Node's nor this package's nor that of an installed one. A
 * syntax error has its place before its text, any other error in a frame.
 *
 * @returns such as `/srv/bot/guard.mjs:12:9`; `undefined` if there is no such place.
 */
export function foreignPlace(stack: string): string | undefined {
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
