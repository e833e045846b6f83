import { definedFields, isSluiceError, oneLine } from 'sluice-kernel/internal';
import { authorPlace, causesOf, placesIn } from './foreign-place.js';

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
