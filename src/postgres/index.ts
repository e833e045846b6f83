export {
  openPostgresJournal,
  type PostgresJournal,
  type PostgresJournalOptions,
} from './postgres-journal.js';
export type {
  PostgresConnections,
  PostgresQuery,
  PostgresRow,
  PostgresValue,
} from './rows/connections.js';
