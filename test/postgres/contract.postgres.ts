import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { tendPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { describeConformance } from '../journal/conformance.js';
import { newDatabase } from './databases.js';

describeConformance('a journal in PostgreSQL', async () => {
  const url = await newDatabase();
  return {
    open: (given) => openPostgresJournal(connect(url), given),
    tend: () => tendPostgresJournal(connect(url)),
  };
});
