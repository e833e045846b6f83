import type { DispatchFilter, NewDispatch } from './journal.js';

/** The mark of a record of an audited handler, which stands among the dispatches, in the place of why payloads are left out. */
export const auditMark = 'audit' satisfies NewDispatch['omitted'];

/** Tells whether a record is of the kind that a filter asks for: of a dispatch, or of an audited handler. */
export function isOfKind({ omitted }: NewDispatch, { audits = false }: DispatchFilter): boolean {
  return (omitted === auditMark) === audits;
}
