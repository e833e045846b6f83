import { join } from 'node:path';
import { connect } from '../../extensions/postgres/src/index.js';
import { type Journal, openJournal } from '../../src/journal/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { fence, fenceOf } from '../support/fences.js';
import { installPostgres, PostgresServer } from '../support/postgres-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

// The five writes of a message to a journal in a file and to one in PostgreSQL, in turns: one message after the other, and 200
// conversations at once.

const body = JSON.stringify({ text: 'x'.repeat(400) });

async function message(journal: Journal, eventId: string): Promise<void> {
  const from = { channel: 'c', accountId: 'a', lane: eventId, receivedAtMs: 1, body };
  await journal.accept({ eventId, ...from });
  await journal.begin(eventId);
  const sendId = `${eventId}.1`;
  const said = { kind: 'reply', fingerprint: 'f', body };
  await journal.prepare(fence, { sendId, correlationId: eventId, ...said }, true);
  await journal.endSend(fence, sendId, { state: 'sent' });
  await journal.endUpdate(fenceOf(eventId), { isDead: false, outcome: 'answered' });
}

async function conversation(journal: Journal, name: string, messages: number): Promise<void> {
  for (let at = 0; at < messages; at++) await message(journal, `${name}-${at}`);
}

installPostgres();
await using server = await PostgresServer.start();
const connections = connect(server.url());
await migratePostgres(connections);
using folder = temporaryFolder();
const journals = {
  file: await openJournal(join(folder.path, 'sluice.db')),
  PostgreSQL: await openPostgresJournal(connections),
};
for (let round = 1; round <= 3; round++)
  for (const [name, journal] of Object.entries(journals)) {
    let fromMs = performance.now();
    await conversation(journal, `${round}-alone`, 50);
    const aloneMs = (performance.now() - fromMs) / 50;
    fromMs = performance.now();
    await Promise.all(
      Array.from({ length: 200 }, (_, at) => conversation(journal, `${round}-${at}`, 5)),
    );
    const amongMs = (performance.now() - fromMs) / 1_000;
    console.log(
      `${name}: ${aloneMs.toFixed(1)} ms a message alone, ${amongMs.toFixed(2)} ms with 200 conversations`,
    );
  }
for (const journal of Object.values(journals)) await journal.close();
