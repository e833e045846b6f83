import { describe } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { tendPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { describeJournal } from '../journal/journal-contract.js';
import { describeStore } from '../journal/store-contract.js';
import { keyValuesContract } from '../sdk/extension/store/key-values-contract.js';
import { newDatabase } from './databases.js';

describeJournal('a journal in PostgreSQL', async (options) =>
  openPostgresJournal(connect(await newDatabase()), options),
);

describeStore('a store in PostgreSQL', async () => {
  const journal = await openPostgresJournal(connect(await newDatabase()));
  return { store: journal.store, close: () => journal.close() };
});

describe('values in PostgreSQL (extensions-that-act §2)', () => {
  keyValuesContract(async (clock) => {
    const url = await newDatabase();
    const journal = await openPostgresJournal(connect(url), { clock });
    const beside = await tendPostgresJournal(connect(url));
    return {
      handles: [journal.keyValues, beside.keyValues],
      [Symbol.asyncDispose]: async () => {
        await beside.close();
        await journal.close();
      },
    };
  });
});
