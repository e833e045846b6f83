import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { readPostgresHosts } from '../../src/postgres/postgres-reader.js';
import { migratePostgres } from '../../src/postgres/postgres-schema.js';
import { jsonLines } from '../cli/cli.js';
import { runInMemory } from '../cli/memory-shell.js';
import { anUpdate } from '../journal/journal-contract.js';
import { newDatabase, projectFolder } from './databases.js';

const patiently = { timeout: 60_000, interval: 50 };
const partitions = 4;
const leaseMs = 30_000; // longer than any pause of the machine

async function sharedDatabase() {
  const url = await newDatabase();
  const admin = connect(url);
  await migratePostgres(admin, partitions);
  return { url, admin };
}

const acme = (version: string): string =>
  `export default { kind: 'sluice-extension', id: 'acme', manifest: { version: '${version}' }, setup() {} };`;

/** A machine with a config of its own, on which `sluice` runs. */
function machine(url: string, version: string, settings: object = {}) {
  const cwd = projectFolder();
  writeFileSync(join(cwd, 'acme.mjs'), acme(version));
  const journal = { url: { env: 'DATABASE_URL' }, partitions, leaseMs };
  const config = { journal, extensions: [{ path: './acme.mjs' }], ...settings };
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config));
  return (args: readonly string[], input: string | PassThrough = '') =>
    runInMemory(args, input, { cwd, env: { DATABASE_URL: url } });
}

interface Listed {
  readonly hostId: string;
  readonly parts: readonly number[];
  readonly digest: string;
}

describe('the hosts of a journal in PostgreSQL', () => {
  it('are listed with their partitions and what waits in them, and doctor names their differences (durability §11.13)', {
    timeout: 120_000,
  }, async () => {
    const { url, admin } = await sharedDatabase();
    const one = machine(url, '1.0.0', { approvals: { timeoutMs: 60_000 } });
    const two = machine(url, '2.0.0', { approvals: { timeoutMs: 90_000 } });
    const listed = async () => jsonLines<Listed>((await one(['hosts', '--json'])).stdout);
    const shares = async () => (await listed()).map(({ parts }) => parts.length);
    const inputs = [new PassThrough(), new PassThrough()];
    const runs = [one(['run', '--quiet'], inputs[0])];
    await expect.poll(shares, patiently).toEqual([4]);
    runs.push(two(['run', '--quiet'], inputs[1]));
    await expect.poll(shares, patiently).toEqual([2, 2]);
    const [first, second] = await listed();
    expect(first?.digest).not.toBe(second?.digest);
    const text = (await two(['hosts'])).stdout.trim().split('\n');
    expect(text).toHaveLength(2);
    expect(text[0]).toMatch(
      /^[\w-]{36} {2}since \S+Z {2}lease for \S+ m?s {2}2 partitions {2}0 messages wait/,
    );
    expect(text[1]).toContain(`digest ${second?.digest}`);
    const { stdout } = await one(['doctor', '--json']);
    const found = jsonLines<{ check: string; what: string; whose?: string }>(stdout);
    const ofHosts = found.filter(({ check }) => check === 'hosts');
    expect(ofHosts.map(({ whose }) => whose)).toEqual([
      undefined,
      'config approvals',
      'extension acme',
    ]);
    expect(ofHosts[2]?.what).toBe(
      `differs between hosts: 1.0.0 at ${first?.hostId}; 2.0.0 at ${second?.hostId}`,
    );
    for (const input of inputs) input.end();
    await Promise.all(runs);
    expect(await one(['hosts', '--json'])).toMatchObject({
      stdout: '',
      stderr: 'sluice: no host has this journal\n',
    });
    await admin.close();
  });

  it('are read with the messages of their partitions that wait (durability §11.13)', async () => {
    const { url, admin } = await sharedDatabase();
    const journal = await openPostgresJournal(connect(url), { leaseMs });
    for (const id of ['a', 'b']) await journal.accept({ ...anUpdate(id), slot: 3 });
    const [host] = await readPostgresHosts(admin);
    expect(host).toMatchObject({ waiting: 2, parts: [0, 1, 2, 3], about: {} });
    expect(host?.oldestWaitingMs).toBeGreaterThanOrEqual(0);
    await journal.close();
    await admin.close();
  });

  it('take no partition before they are announced (durability §11.14)', async () => {
    const { url, admin } = await sharedDatabase();
    const journal = await openPostgresJournal(connect(url), { leaseMs, announces: true });
    expect(journal.ownership.partitions()).toEqual([]);
    await journal.announce(() => ({ sluice: '1.2.3' }));
    expect(journal.ownership.partitions()).toEqual([0, 1, 2, 3]);
    expect((await readPostgresHosts(admin))[0]?.about).toEqual({ sluice: '1.2.3' });
    await journal.close();
    await admin.close();
  });

  it('do not start without an extension that their config requires, and have taken no partition (durability §11.14)', async () => {
    const { url, admin } = await sharedDatabase();
    const extensions = [{ path: './not-there.mjs', required: true }];
    const { code, stderr } = await machine(url, '1.0.0', { extensions })(
      ['run', '--quiet'],
      'hi\n',
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was started')]);
    expect(await admin.query('SELECT is_called FROM sluice_epochs')).toEqual([
      { is_called: false }, // each taking has a number of it
    ]);
    await admin.close();
  });
});
