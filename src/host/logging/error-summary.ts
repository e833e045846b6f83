import { definedFields } from '../../kernel/index.js';
/** The parts of an error that hold nobody's text, which are fit for a log at every level. */
export interface ErrorSummary {
  /** The class, `TypeError` say. */
  readonly type: string;
  /** The code, such as `ECONNREFUSED`, if it has one. */
  readonly code?: string;
  /** The file, line and column that it comes from. */
  readonly at?: string;
}

/**
 * Sums up a thrown value without its message, which may quote the text of somebody else or a secret (spec §20.3). It reads
 * anything, also a value whose fields throw.
 *
 * @example
 * errorSummary(new TypeError(`no such user ${name}`)); // { type: 'TypeError', at: '/srv/acme.js:12:5' }
 */
export function errorSummary(thrown: unknown): ErrorSummary {
  try {
    if (!(thrown instanceof Error)) return { type: typeof thrown };
    const code = 'code' in thrown ? identifier(thrown.code) : undefined;
    const at = placeIn(thrown);
    return {
      type: identifier(thrown.name) ?? 'Error',
      ...definedFields({ code, at }),
    };
  } catch {
    return { type: 'unreadable' };
  }
}

/** Returns a value if it is a name that a program gave, and no text of a person. */
function identifier(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w$.-]{0,59}$/.test(value) ? value : undefined;
}

/** Finds the first frame of a stack. The message comes before the frames, and could look like one. */
function placeIn({ stack, message, name }: Error): string | undefined {
  if (typeof stack !== 'string') return undefined;
  const heading = message === '' ? name : `${name}: ${message}`;
  const start = stack.indexOf(heading); // a `name` that was set later is not in it
  if (start !== 0) return undefined;
  const frame = /^\n\s+at (?:[^\n]*\()?(?:file:\/\/)?([^()\n]+:\d+:\d+)\)?(?:\n|$)/.exec(
    stack.slice(heading.length),
  );
  return frame?.[1]?.replace(/\?[^?/]*(?=:\d+:\d+$)/, ''); // the query that a reload adds
}
