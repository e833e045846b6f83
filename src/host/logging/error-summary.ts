import { definedFields, isSluiceError, oneLine } from '../../kernel/index.js';
import { foreignPlace } from './foreign-place.js';

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
    const causes = causesOf(thrown);
    const isOwn = causes.every((each) => isSluiceError(each));
    const frames = causes.map(framesOf);
    const at = frames.map(foreignPlace).findLast((place) => place !== undefined);
    return {
      type: identifier(thrown.name) ?? 'Error',
      ...definedFields({
        code,
        message: isOwn ? oneLine(thrown.message) : undefined,
        at: at ?? placeIn(frames[0] ?? ''),
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

/** Returns an error and its causes, as far as they are told. */
function causesOf(thrown: Error): readonly Error[] {
  const found = [thrown];
  for (let at = thrown.cause; at instanceof Error && found.length < 5; at = at.cause)
    found.push(at);
  return found;
}

/** Returns the frames of a stack. The message comes before them, and could look like one. */
function framesOf({ stack, message, name }: Error): string {
  const heading = message === '' ? name : `${name}: ${message}`;
  const isFirst = typeof stack === 'string' && stack.startsWith(heading); // a `name` that was set later is not in it
  return isFirst ? stack.slice(heading.length) : '';
}

/** Finds the first of some frames. */
function placeIn(frames: string): string | undefined {
  const frame = /^\n\s+at (?:[^\n]*\()?(?:file:\/\/)?([^()\n]+:\d+:\d+)\)?(?:\n|$)/.exec(frames);
  return frame?.[1]?.replace(/\?[^?/]*(?=:\d+:\d+$)/, ''); // the query that a reload adds
}
