import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import {
  entryKinds,
  publicKeyIn,
  recordOf,
  type VerifiedRecord,
  verifyRecord,
} from '../../src/journal/internal.js';
import { openPostgresJournal, type PostgresConnections } from '../../src/postgres/index.js';
import { readPostgresJournal } from '../../src/postgres/postgres-journal.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { virtualClock } from '../../src/testing/index.js';
import { someDispatches } from '../journal/record/record-lab.js';
import { compiled } from '../support/compiled.js';
import { testFolder } from '../support/folder.js';
import { endLeases, newDatabase } from './databases.js';
import { partitions, sharedDatabase } from './sharing.js';

const patiently = { timeout: 60_000 };

async function verifyDatabase(url: string, keyFiles: readonly string[]): Promise<VerifiedRecord> {
  await using reader = await readPostgresJournal(connect(url));
  const keys = keyFiles.map(publicKeyIn);
  return await verifyRecord(await recordOf(reader, false), { keys, checkpoints: [] });
}

type Opened = Awaited<ReturnType<typeof openPostgresJournal>>;

async function write(journal: Opened, count: number, from: number): Promise<void> {
  for (const one of someDispatches(count, 17, from)) journal.dispatched(one);
  await journal.dispatches({ limit: 1, kinds: entryKinds });
}

it('chains go on at the host that takes a partition, and are good (record §2.2, record §2.3)', async () => {
  const url = await sharedDatabase();
  const folder = testFolder();
  const keyFiles = [join(folder, 'a'), join(folder, 'b')];
  const open = async (keyFile = '') => openPostgresJournal(connect(url), { record: { keyFile } });
  const first = await open(keyFiles[0]);
  await expect.poll(() => first.ownership.partitions().length, patiently).toBe(partitions);
  await write(first, 60, 0);
  const second = await open(keyFiles[1]);
  await write(second, 20, 100); // it has no partition yet
  await expect.poll(() => second.ownership.partitions().length, patiently).toBe(partitions / 2);
  await Promise.all([write(first, 60, 200), write(second, 60, 300)]);
  await first.close();
  await expect.poll(() => second.ownership.partitions().length, patiently).toBe(partitions);
  await write(second, 60, 400);
  second.ownership.withdraw();
  await expect.poll(() => second.ownership.partitions().length, patiently).toBe(0);
  await write(second, 20, 500);
  await second.close();
  const verified = await verifyDatabase(url, keyFiles);
  expect(verified).toMatchObject({ records: 280, unsigned: 0, findings: [] });
  const beside = connect(url);
  const [none] = await beside.query('SELECT number FROM sluice_record_heads WHERE slot = 1024');
  expect(Number(none?.['number'])).toBeGreaterThanOrEqual(20);
  await beside.query(`UPDATE sluice_dispatches SET status = 'cancelled' WHERE event_id = 'e-310'`);
  await beside.query(`DELETE FROM sluice_dispatches WHERE event_id = 'e-430'`);
  await beside.close();
  const { findings } = await verifyDatabase(url, keyFiles);
  expect(findings.map(({ kind }) => kind).sort()).toEqual(['changed', 'removed']);
});

it('a record costs no statement of its own (record §1.4)', async () => {
  const statementsOf = async (isRecorded: boolean): Promise<readonly number[]> => {
    const inner = connect(await newDatabase());
    const counts: number[] = [];
    const connections: PostgresConnections = {
      ...inner,
      transaction: (work) =>
        inner.transaction(async (query) => {
          let [statements, isOfRecords] = [0, false];
          const done = await work((sql, values) => {
            statements++;
            isOfRecords ||= sql.includes('INSERT INTO sluice_dispatches');
            return query(sql, values);
          });
          if (isOfRecords) counts.push(statements);
          return done;
        }),
    };
    const record = { keyFile: join(testFolder(), 'key') };
    const options = { clock: virtualClock(), leaseMs: 60_000, ...(isRecorded && { record }) };
    const journal = await openPostgresJournal(connections, options);
    for (let at = 0; at < 6; at++) await write(journal, 30, at * 100);
    await journal.close();
    return counts;
  };
  const [without, recorded] = [await statementsOf(false), await statementsOf(true)];
  expect(recorded).toHaveLength(without.length); // no further transaction
  // the heads of its partition are read once, and a sweep may share one or two of the transactions
  expect([Math.min(...without), Math.min(...recorded)]).toEqual([2, 2]);
});

it('tables of version 4 are brought up to this one, with their rows, while no host lives (record §1.1)', async () => {
  const url = await newDatabase();
  const beside = connect(url);
  for (const sql of [
    'DROP TABLE sluice_record_heads',
    'ALTER TABLE sluice_dispatches DROP COLUMN proof',
    'UPDATE sluice_journal SET version = 4',
    `INSERT INTO sluice_dispatches (event_id, family, correlation_id, status, occurred_at_ms, body)
      VALUES ('e-0', 'egress.sent', 'u-0', 'passed', 1, '{}')`,
  ])
    await beside.query(sql);
  const record = { keyFile: join(testFolder(), 'key') };
  await expect(openPostgresJournal(connect(url), { record })).rejects.toThrow(/journal migrate/);
  expect(await migratePostgres(beside)).toEqual({ from: 4, to: 5 });
  await beside.close();
  const journal = await openPostgresJournal(connect(url), { record });
  await write(journal, 10, 0);
  await journal.close();
  const verified = await verifyDatabase(url, [record.keyFile]);
  expect(verified).toMatchObject({ records: 10, before: 1, findings: [] });
});

it('a day whose last record is not cut stays, and what is dropped is no finding (record §3.4)', async () => {
  const url = await newDatabase();
  const record = { keyFile: join(testFolder(), 'key') };
  const clock = virtualClock();
  const options = { record, clock, keepForMs: 1_000 };
  const first = await openPostgresJournal(connect(url), options);
  await write(first, 30, 0);
  await first.close();
  await clock.advance(60_000);
  const second = await openPostgresJournal(connect(url), options);
  await write(second, 30, 100);
  const beside = connect(url);
  const left = async () => (await beside.query('SELECT seq FROM sluice_dispatches')).length;
  await expect.poll(left, patiently).toBe(30);
  await second.close();
  await beside.close();
  expect(await verifyDatabase(url, [record.keyFile])).toMatchObject({ records: 30, findings: [] });
});

it('hosts that are killed leave chains that verify (record §1.4, child processes)', async () => {
  const url = await sharedDatabase();
  const folder = testFolder();
  const file = new URL('../journal/record/fixtures/keeps-records.ts', import.meta.url);
  const child = await compiled(fileURLToPath(file));
  const keyFiles: string[] = [];
  for (let round = 0; round < 6; round++) {
    const hosts = ['a', 'b'].map((name) => {
      const keyFile = join(folder, name);
      keyFiles[name === 'a' ? 0 : 1] = keyFile;
      const from = String(round * 100_000 + (name === 'a' ? 0 : 50_000));
      return spawn(process.execPath, [child, url, keyFile, from], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    });
    for (const host of hosts) await once(host.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, 40 * round));
    for (const host of hosts) host.kill('SIGKILL');
    await Promise.all(hosts.map((host) => once(host, 'exit')));
    await endLeases(url);
  }
  const last = await openPostgresJournal(connect(url), { record: { keyFile: keyFiles[0] ?? '' } });
  await expect.poll(() => last.ownership.partitions().length, patiently).toBe(partitions);
  await write(last, 20, 9_000_000);
  await last.close();
  const verified = await verifyDatabase(url, keyFiles);
  expect(verified.findings).toEqual([]);
  expect(verified.records).toBeGreaterThan(6 * 20);
  expect(verified.unsigned).toBe(0); // the last host has signed those of the ones before
});
