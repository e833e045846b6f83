import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thisCopy } from '@sluice/sdk/extension/internal';
import { definedFields, isSluiceError, oneLine } from 'sluice-kernel/internal';

/** The parts of an error that hold nobody's text, which are fit for a log at every level. */
export interface ErrorSummary {
  /** The class, `TypeError` say. */
  readonly type: string;
  /** The code, such as `ECONNREFUSED`, if it has one. */
  readonly code?: string;
  /** The text of an error of this project that quotes no other error. */
  readonly message?: string;
  /** The file, line and column that it comes from: in the code of an author, if some of it is on the way there. */
  readonly at?: string;
}

/**
 * Sums up a thrown value without the message of a foreign error, which may quote the text of somebody else or a secret (spec §20.3). It reads
 * anything, also a value whose fields throw.
 *
 * @example
 * errorSummary(new TypeError(`no such user ${name}`)); // { type: 'TypeError', at: '/srv/acme.js:12:5' }
 */
export function errorSummary(thrown: unknown): ErrorSummary {
  try {
    if (!(thrown instanceof Error)) return { type: typeof thrown };
    const code = 'code' in thrown ? identifier(thrown.code) : undefined;
    const isOwn = causesOf(thrown).every(
      (each) => isSluiceError(each) && (each.cause === undefined || each.cause instanceof Error),
    );
    return {
      type: identifier(thrown.name) ?? 'Error',
      ...definedFields({
        code,
        message: isOwn ? oneLine(thrown.message) : undefined,
        at: authorPlace(thrown) ?? placesIn(thrown)[0],
      }),
    };
  } catch {
    return { type: 'unreadable' };
  }
}

/** Returns a value if it is a name that a program gave, and no text of a person. */
function identifier(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w$.-]{0,59}$/.test(value) ? value : undefined;
}

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
function causesOf(thrown: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let at = thrown; at instanceof Error && found.length < 5; at = at.cause) found.push(at);
  return found;
}

/**
 * Finds the files, lines and columns in a stack. The message comes before the frames, and could look like one. A syntax error
 * has its place before its message. The stack has the name that the error was made with, and the code of an error of Node.
 */
function placesIn({ stack, message }: Error): readonly string[] {
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
