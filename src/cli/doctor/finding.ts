import { definedFields } from 'sluice-kernel/internal';

/**
 * The weight of a finding. `error`: something does not work. `warning`: it works, and should be looked at. `unchecked`: nobody knows, since
 * it could not be looked at. `ok`: all is well.
 */
export type Severity = 'error' | 'warning' | 'unchecked' | 'ok';

/** One thing that the doctor has looked at. */
export interface Finding {
  readonly severity: Severity;
  /** The part of the host that was looked at. */
  readonly check:
    | 'versions'
    | 'running'
    | 'config'
    | 'agents'
    | 'extensions'
    | 'plugins'
    | 'channels'
    | 'grants'
    | 'roles'
    | 'secrets'
    | 'families'
    | 'matches'
    | 'routes'
    | 'journal'
    | 'hosts';
  /** The finding itself, in one line. */
  readonly what: string;
  /** The subject: an extension, a handler, a setting. */
  readonly whose?: string;
  /** The cure; with every error and warning. */
  readonly hint?: string;
  /** The code of an error that has one. */
  readonly code?: string;
}

/**
 * Makes findings of one check.
 *
 * @example
 * const journal = findingsOf('journal');
 * return [journal.warning('holds 2 dead letters', path, 'See `sluice journal list --state dead`.')];
 */
export function findingsOf(check: Finding['check']) {
  const finding =
    (severity: Severity) =>
    (what: string, whose?: string, hint?: string): Finding =>
      definedFields({ severity, check, what, whose, hint });
  return {
    ok: finding('ok'),
    unchecked: finding('unchecked'),
    warning: finding('warning'),
    error: finding('error'),
    /** Reports something that was thrown while the check was made. */
    thrown: (thrown: unknown, whose?: string): Finding => {
      const { code, hint, message }: Partial<Record<string, unknown>> = Object(thrown); // anything may be thrown
      const what = typeof message === 'string' ? message : String(thrown);
      const cure = typeof hint === 'string' ? hint : 'Run it with --debug for the stack trace.';
      return {
        ...finding('error')(what, whose, cure),
        ...(typeof code === 'string' && { code }),
      };
    },
  };
}
