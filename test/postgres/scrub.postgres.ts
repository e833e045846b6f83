import { connect } from '../../extensions/postgres/src/index.js';
import { forgetInPostgres } from '../../src/postgres/forget-postgres.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { describeScrub } from '../journal/privacy/scrub-contract.js';
import { newDatabase } from './databases.js';

/** The tables that hold texts. */
const tables = ['updates', 'sends', 'dispatches', 'sessions', 'transcripts', 'key_values'];

describeScrub('a journal in PostgreSQL', async () => {
  const url = await newDatabase();
  return {
    open: (given) => openPostgresJournal(connect(url), given),
    forget: (whose, isDry = false) =>
      forgetInPostgres(connect(url), whose, isDry, new AbortController().signal),
    all: async (journal) => {
      await journal.close();
      const { query, close } = connect(url);
      const all = tables.map((name) =>
        query(`SELECT one::text AS text FROM sluice_${name} AS one`),
      );
      const rows = await Promise.all(all);
      await close();
      return JSON.stringify(rows);
    },
  };
});
