import './errors.js'; // merges the codes of this layer into ErrorCode

export * from './database/open-sqlite.js';
export type { SqliteValue, StoredRow } from './database/sqlite-values.js';
export type { EntryKind, RecordMark } from './entry-kinds.js';
export type { Fence, Ownership, SessionWrite, UpdateFence } from './fence.js';
export type {
  DispatchFilter,
  DispatchRecord,
  Journal,
  JournalFilter,
  JournalReader,
  NewDispatch,
  NewSend,
  NewUpdate,
  SendEndRecord,
  SendFilter,
  SendRecord,
  SendState,
  UpdateEnd,
  UpdateFilter,
  UpdateRecord,
  UpdateState,
} from './journal.js';
export type { JournalCounts, JournalStats } from './journal-counts.js';
export { type MemoryJournalOptions, memoryJournal } from './memory-journal.js';
export type { MessageEnd, SendReport } from './message-end.js';
export { type Scrub, type ScrubOptions, type ScrubPatterns, scrubber } from './privacy/scrub.js';
export type { RecordOptions } from './record/recorder.js';
export type { Damage } from './rows/table-rows.js';
export { openJournal, type TendedJournal, tendJournal } from './sqlite/open-journal.js';
export type { Retention } from './sqlite/retention.js';
export type { JournalOptions, SqliteJournal } from './sqlite/sqlite-journal.js';
export { type ReadOptions, readJournal } from './sqlite/sqlite-reader.js';
export * from './store.js';
