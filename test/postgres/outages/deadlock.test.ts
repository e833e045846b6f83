import { expect, it } from 'vitest';
import { journalError } from '../../../src/journal/errors.js';
import { wholeOwnership } from '../../../src/journal/fence.js';
import { PostgresBatches } from '../../../src/postgres/postgres-batches.js';
import { virtualClock } from '../../../src/testing/index.js';

it.each([true, false])(
  'a write that the database ends because two hosts wait for each other is tried once more; the journal is shared: %s (durability §11.5)',
  async (isShared) => {
    let transactions = 0;
    const query = async () => [];
    const batches = new PostgresBatches(
      {
        address: 'postgres://fake',
        query,
        transaction: async (work) => {
          const result = await work(query);
          if (++transactions === 1)
            throw journalError('database-busy', { path: 'postgres://fake', problem: 'a deadlock' });
          return result;
        },
        close: async () => undefined,
      },
      {
        clock: virtualClock(),
        ownership: { ...wholeOwnership(), partitionCount: isShared ? 2 : 1 },
        fence: async () => '1',
        unknownForMs: 1_000,
      },
    );
    const end = await batches.write(() => 'kept').catch(({ code }) => code);
    expect([end, transactions]).toEqual(isShared ? ['kept', 2] : ['database-busy', 1]);
    await batches.close();
  },
);
