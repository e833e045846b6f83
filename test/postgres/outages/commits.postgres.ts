import { describe, expect, it } from 'vitest';
import { connect } from '../../../extensions/postgres/src/index.js';
import { openPostgresJournal, type PostgresJournal } from '../../../src/postgres/index.js';
import { anUpdate, aSend } from '../../journal/journal-contract.js';
import { fence, fenceOf } from '../../support/fences.js';
import { PostgresProxy } from '../../support/postgres-proxy.js';
import { newDatabase } from '../databases.js';
import { settled, withoutRenewals } from './quiet-journal.js';

const quota = { maxKeys: 9, maxBytes: 99 };
const session = { sessionKey: 'k', sessionId: 's1', agentId: 'main', context: {}, memoryKeys: [] };

/** The writes of a message, in their order. */
const writes: readonly (readonly [string, (journal: PostgresJournal) => Promise<unknown>])[] = [
  ['the accept of an update', ({ accept }) => accept(anUpdate('a'))],
  ['its beginning', ({ begin }) => begin('a')],
  ['a session', ({ store }) => store.saveSession({ ...session, metadata: {} }, { fence })],
  [
    'a transcript',
    ({ store }) => store.appendMessage('s1', { role: 'user', content: 'x' }, { fence }),
  ],
  ['a value', (at) => at.keyValues.write('acme', 'k', { body: '1' }, { quota, expected: null })],
  ['a send', ({ prepare }) => prepare(fence, aSend('s', { correlationId: 'a' }), true)],
  ['the end of a send', ({ endSend }) => endSend(fence, 's', { state: 'sent' })],
  [
    'the end of an update',
    ({ endUpdate }) => endUpdate(fenceOf('a'), { isDead: false, outcome: 'answered' }),
  ],
];

/** All that a journal keeps, as text. */
async function kept(url: string): Promise<string> {
  const reader = connect(url);
  const tables = ['updates', 'sends', 'sessions', 'transcripts', 'key_values'];
  const rows = await Promise.all(
    tables.map((table) => reader.query(`SELECT * FROM sluice_${table}`)),
  );
  await reader.close();
  return JSON.stringify(rows);
}

describe('a connection that is cut in the middle of a commit', () => {
  it('leaves no write in doubt: it has failed and is not persisted, or is persisted once (durability §11.7)', async () => {
    const url = await newDatabase();
    await using proxy = await PostgresProxy.to(url);
    const journal = await openPostgresJournal(connect(proxy.url(url)), { clock: withoutRenewals });
    await settled(journal);
    for (const [name, write] of writes) {
      const before = await kept(url);
      proxy.lose('before');
      await expect(write(journal), name).rejects.toMatchObject({ code: 'database-io' });
      expect(await kept(url), name).toBe(before);
      proxy.lose('after');
      await write(journal);
      expect(await kept(url), name).not.toBe(before);
    }
    expect(proxy.lost).toBe(2 * writes.length);
    expect(await journal.updates()).toMatchObject([{ state: 'ended', attempts: 1 }]);
    expect(await journal.sends()).toMatchObject([{ state: 'sent', attempts: 1 }]);
    expect(await journal.store.readTranscript('s1')).toHaveLength(1);
    await journal.close();
  });
});
