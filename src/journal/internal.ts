// The names of this package that only the other packages here use.

export { againMs, logJournalFailure, mayPass, patiently } from './commit/journal-failure.js';
export { sessionWrites } from './commit/session-writes.js';
export { WaitingDispatches } from './commit/waiting-dispatches.js';
export * from './damage/repair-journal.js';
export { makePrivate, openToOthers } from './database/private-file.js';
export { problemOfText } from './database/sqlite-values.js';
export { entryKinds, kindOf } from './entry-kinds.js';
export { journalError } from './errors.js';
export * from './event-id.js';
export { checkedFence, noFence, slotCount, slotOf, wholeOwnership } from './fence.js';
export { defaultLimit, isOneOf, leftBehind, openSends, openUpdates } from './journal.js';
export * from './journal-changes.js';
export type * from './kinds/journal-kind.js';
export * from './message-end.js';
export { type CleanText, cleanBody, cleanTexts } from './rows/clean-body.js';
export { countRows } from './rows/count-rows.js';
export type { RowFilter } from './rows/journal-rows.js';
export { isNotEnded, isOpenSend, isOpenUpdate } from './rows/journal-schema.js';
export { damageLine, isRefusedForGood } from './rows/table-rows.js';
export { usualKeepForMs } from './sqlite/retention.js';
export { withoutSecrets } from './without-secrets.js';
