import { definedFields } from '../../kernel/index.js';
/** What of an error holds nobody's text: fit for a log at every level. */
export interface ErrorSummary {
  /** The class, `TypeError` say. */
  readonly type: string;
  /** `ECONNREFUSED`, say, where it has one. */
  readonly code?: string;
  /** The file, line and column that it comes from. */
  readonly at?: string;
}

/**
 * Sums up what was thrown, without its message: that is the text of whoever threw it, and may quote a message or a
 * secret (spec §20.3). Reads anything, also what does not want to be read.
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

/** A name that a program gave, not a text that a person wrote. */
function identifier(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w$.-]{0,59}$/.test(value) ? value : undefined;
}

/** The first frame of a stack. The message comes before the frames, and could look like one. */
function placeIn({ stack, message, name }: Error): string | undefined {
  if (typeof stack !== 'string') return undefined;
  const heading = message === '' ? name : `${name}: ${message}`;
  const start = stack.indexOf(heading); // a `name` that was set later is not in it
  if (start !== 0) return undefined;
  const frame = /^\n\s+at (?:[^\n]*\()?(?:file:\/\/)?([^()\n]+:\d+:\d+)\)?(?:\n|$)/.exec(
    stack.slice(heading.length),
  );
  return frame?.[1];
}
