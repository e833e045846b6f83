import type { DispatchFilter, NewDispatch } from './journal.js';
import { type WayKind, wayKinds } from './way-kinds.js';

/** Tells the kind of a record. */
export function kindOf({ omitted }: Pick<NewDispatch, 'omitted'>): WayKind {
  return wayKinds.find((kind) => kind === omitted) ?? 'dispatch';
}

/** Tells whether a record is of the kinds that a filter asks for: of dispatches, if it names none. */
export function isOfKind(record: NewDispatch, { kinds }: DispatchFilter): boolean {
  const kind = kindOf(record);
  return kinds === undefined ? kind === 'dispatch' : kinds.includes(kind);
}
