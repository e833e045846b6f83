// The names of this package that only the other packages here use.

export { postgresJournals } from './journal-kind.js';
