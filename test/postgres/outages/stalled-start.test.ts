import { expect, it } from 'vitest';
import { withFailures } from '../../../src/postgres/postgres-failure.js';
import { PostgresMember } from '../../../src/postgres/postgres-member.js';
import { virtualClock } from '../../../src/testing/index.js';

it.each([
  ['ten times', Number.POSITIVE_INFINITY, 11],
  ['until it is told to stop', 3, 3],
])(
  'a host whose transactions are ended because it says nothing joins again %s (durability §11.2)',
  async (_, stopsAfter, tries) => {
    const stop = new AbortController();
    let transactions = 0;
    const connections = withFailures({
      address: 'postgres://fake',
      query: async () => [],
      transaction: async () => {
        if (++transactions === stopsAfter) stop.abort();
        throw Object.assign(new Error('it said nothing'), { code: '25P03' });
      },
      close: async () => undefined,
    });
    const member = new PostgresMember(connections, virtualClock(), 5_000);
    const joining = member.join(undefined, stop.signal);
    await expect(joining).rejects.toMatchObject({ code: 'database-io' });
    expect(transactions).toBe(tries);
  },
);
