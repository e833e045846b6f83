import { definedFields } from '../../kernel/index.js';
/** How bad a finding is. `error`: something does not work. `warning`: it works, and should be looked at. `ok`: it is as it should be. */
export type Severity = 'error' | 'warning' | 'ok';

/** One thing that the doctor has looked at. */
export interface Finding {
  readonly severity: Severity;
  /** What was looked at. */
  readonly check:
    | 'versions'
    | 'config'
    | 'agents'
    | 'extensions'
    | 'plugins'
    | 'channels'
    | 'grants'
    | 'secrets'
    | 'families'
    | 'journal';
  /** What is so, in one line. */
  readonly what: string;
  /** Whose it is: an extension, a handler, a setting. */
  readonly whose?: string;
  /** What to do; with every error and warning. */
  readonly hint?: string;
  /** The code of the error, where there is one. */
  readonly code?: string;
}

/** What is wrong, from something that was thrown while it was tried. */
export function findingOf(check: Finding['check'], thrown: unknown, whose?: string): Finding {
  const { code, hint, message } = Object(thrown) as {
    readonly code?: unknown;
    readonly hint?: unknown;
    readonly message?: unknown;
  }; // whatever it is, each part is looked at
  return {
    severity: 'error',
    check,
    what: typeof message === 'string' ? message : String(thrown),
    ...definedFields({ whose }),
    hint: typeof hint === 'string' ? hint : 'Run it with --debug for the stack trace.',
    ...(typeof code === 'string' && { code }),
  };
}
