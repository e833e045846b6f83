import { expect, it } from 'vitest';
import { CommitFates } from '../../../src/postgres/members/commit-fates.js';
import { virtualClock } from '../../../src/testing/index.js';

it('a commit is not taken for kept if a standby takes the place of its server between the questions for it (durability §11.7)', async () => {
  let history = '00000001';
  const query = async (sql: string) => {
    if (!sql.includes('pg_xact_status')) return [{ history }];
    history = '00000002'; // it answers, and its ids are those of other transactions
    return [{ status: 'committed' }];
  };
  const fates = new CommitFates(query, virtualClock(), 1_000);
  expect(await fates.isCommitted('7', await fates.history())).toBe(false);
});

it('a commit is persisted if its server says so (durability §11.7)', async () => {
  const query = async (sql: string) => [
    sql.includes('pg_xact_status') ? { status: 'committed' } : { history: '00000001' },
  ];
  const fates = new CommitFates(query, virtualClock(), 1_000);
  expect(await fates.isCommitted('7', await fates.history())).toBe(true);
});
