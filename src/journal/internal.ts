// The names of this package that only the other packages here use.

export { backupJournal } from './backup/backup-journal.js';
export { compactJournal, newEnding, restoreJournal } from './backup/replace-journal.js';
export * from './commit/commit-queue.js';
export { databaseJournal, writtenKeyValues } from './commit/database-journal.js';
export { againMs, logJournalFailure, mayPass, patiently } from './commit/journal-failure.js';
export { type SessionReader, storedEntry } from './commit/session-store.js';
export { Sweep } from './commit/sweep.js';
export { WaitingDispatches } from './commit/waiting-dispatches.js';
export * from './damage/repair-journal.js';
export { makePrivate, openToOthers } from './database/private-file.js';
export { problemOfText } from './database/sqlite-values.js';
export { entryKinds, kindOf } from './entry-kinds.js';
export { journalError } from './errors.js';
export * from './event-id.js';
export { noFence, slotOf, wholeOwnership } from './fence.js';
export { forgetInFile } from './forget/forget-file.js';
export * from './forget/forget-texts.js';
export { defaultLimit, isOneOf, openSends, openUpdates } from './journal.js';
export * from './journal-changes.js';
export type * from './kinds/journal-kind.js';
export * from './message-end.js';
export { badPattern, both, type Scrub, scrubber } from './privacy/scrub.js';
export { canonicalJson } from './record/canonical-json.js';
export * from './record/export-record.js';
export type { Head } from './record/proof.js';
export { RecordChain } from './record/record-chain.js';
export { hostKey, isSigned, publicKeyIn, rotateKey } from './record/record-key.js';
export { Recorder, signNext } from './record/recorder.js';
export { readStatements, statementIn } from './record/statements.js';
export * from './record/verify-record.js';
export { type CleanText, cleanTexts } from './rows/clean-body.js';
export { countRows } from './rows/count-rows.js';
export * from './rows/done-rows.js';
export * from './rows/filter-rows.js';
export * as tables from './rows/journal-rows.js';
export { journalTable, type RecordTable } from './rows/journal-rows.js';
export { isNotEnded, isOpenSend, isOpenUpdate } from './rows/journal-schema.js';
export { damageLine, isRefusedForGood } from './rows/table-rows.js';
export { markedOutcome, unmarkedOutcome } from './scrub-mark.js';
export {
  type ChangeableRows,
  type FieldChanges,
  leftBehind,
  type Standing,
} from './send-changes.js';
export { usualKeepForMs } from './sqlite/retention.js';
export { withoutSecrets } from './without-secrets.js';
