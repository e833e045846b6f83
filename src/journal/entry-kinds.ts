/**
 * The kinds of the records of a timeline. `dispatch`: a stage has ended. `audit`: an audited handler has settled. `update`: a message
 * was taken in, begun or ended. `lane`: its turn has come. `question`: a human was asked, or has answered. `send`: a reply was
 * prepared, or has ended. `attempt`: a channel was given a send. `gap`: records are missing.
 */
export const entryKinds = [
  ...(['dispatch', 'audit', 'update', 'lane'] as const),
  ...(['question', 'send', 'attempt', 'gap'] as const),
] as const;

/** The kind of a record of a timeline. */
export type EntryKind = (typeof entryKinds)[number];

/** The kinds of records that stand among the dispatches, each marked in the place of why payloads are left out. */
export type RecordMark = Exclude<EntryKind, 'dispatch'>;

/** Tells the kind of a record. */
export function kindOf({ omitted }: { readonly omitted?: string }): EntryKind {
  return entryKinds.find((kind) => kind === omitted) ?? 'dispatch';
}

/** Returns whether a record is of the kinds that a filter asks for: of dispatches, if it names none. */
export function isOfKind(
  record: { readonly omitted?: string },
  { kinds = ['dispatch'] }: { readonly kinds?: readonly EntryKind[] },
): boolean {
  return kinds.includes(kindOf(record));
}
