export {
  openPostgresJournal,
  type PostgresJournal,
  type PostgresJournalOptions,
} from './postgres-journal.js';
export type * from './rows/connections.js';
