// The names of this package that only the other packages here use.

export { readPostgresJournal, tendPostgresJournal } from './postgres-journal.js';
export { type PostgresHost, readPostgresHosts } from './postgres-reader.js';
export { migratePostgres, type PostgresMigration } from './postgres-schema.js';
