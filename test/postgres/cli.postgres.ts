import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { connect } from '../../extensions/postgres/src/index.js';
import { openPostgresJournal } from '../../src/postgres/index.js';
import { jsonLines } from '../cli/cli.js';
import { runInMemory } from '../cli/memory-shell.js';
import { anUpdate } from '../journal/journal-contract.js';
import { fenceOf } from '../support/fences.js';
import { testFolder } from '../support/folder.js';
import { newDatabase, projectFolder } from './databases.js';

const patiently = { timeout: 60_000, interval: 10 };

/** A folder with a config whose journal is in PostgreSQL, and the package that connects to it if that is installed. */
async function project(url: string, isInstalled = true) {
  const cwd = isInstalled ? projectFolder() : testFolder();
  const config = { journal: { url: { env: 'DATABASE_URL' }, leaseMs: 5_000 } };
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(config));
  return (args: readonly string[], input: string | Readable = '') =>
    runInMemory(args, input, { cwd, env: { DATABASE_URL: url } });
}

describe('a config that names a PostgreSQL', () => {
  it('keeps the messages of `sluice run` there, after `sluice journal migrate` (durability §11.1)', async () => {
    const sluice = await project(await newDatabase('template1'));
    const early = await sluice(['run', '--quiet'], 'hello\n');
    expect(early.code).not.toBe(0);
    expect(early.stderr).toContain('`sluice journal migrate` makes them');
    const made = await sluice(['journal', 'migrate', '--json']);
    expect(jsonLines(made.stdout)).toMatchObject([{ from: 0, to: 5 }]);
    const again = await sluice(['journal', 'migrate']);
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringContaining('has version 5 already'),
    ]);
    const { code, stdout, stderr } = await sluice(['run', '--quiet'], 'hello\n');
    expect([code, stdout.trim(), stderr]).toEqual([0, 'hello', '']);
    const listed = await sluice(['journal', 'list', '--json']);
    const [update] = jsonLines<{ eventId: string }>(listed.stdout);
    expect(update).toMatchObject({ state: 'ended', outcome: 'answered' });
    const shown = await sluice(['journal', 'show', String(update?.eventId)]);
    expect(shown.stdout).toContain('egress.sent');
    const way = await sluice(['explain', String(update?.eventId), '--way']);
    expect([way.code, way.stdout]).toEqual([0, expect.stringContaining('answered')]);
    const events = await sluice(['events', '--kind', 'send']);
    expect(jsonLines(events.stdout).length).toBeGreaterThan(0);
    const doctor = await sluice(['doctor']);
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining('can be read')]);
  });

  it('lets dead letters and stores be looked after from outside (durability §11.10)', async () => {
    const url = await newDatabase();
    const sluice = await project(url);
    const journal = await openPostgresJournal(connect(url));
    for (const id of ['a', 'b']) {
      await journal.accept(anUpdate(id));
      await journal.endUpdate(fenceOf(id), { isDead: true, outcome: 'failed' });
    }
    const quota = { maxKeys: 9, maxBytes: 99 };
    await journal.keyValues.write('acme', 'seen', { body: '1' }, { quota });
    expect((await sluice(['journal', 'retry', 'a'])).stdout).toContain('will be handled again');
    expect((await sluice(['journal', 'purge', 'b'])).stdout).toContain('is dropped');
    expect((await journal.updates()).map(({ state }) => state)).toEqual(['accepted', 'ended']);
    expect((await sluice(['store', 'list'])).stdout).toContain('acme: 1 key');
    expect((await sluice(['store', 'delete', 'acme', 'seen'])).code).toBe(0);
    expect(await journal.keyValues.get('acme', 'seen')).toBeUndefined();
    await journal.close();
  });

  it('ends `sluice run` with an error if another host takes the journal over (durability §11.3)', async () => {
    const url = await newDatabase();
    const sluice = await project(url);
    const input = new PassThrough(); // it does not end
    const run = sluice(['run', '--quiet'], input);
    const connections = connect(url);
    const taken = 'DELETE FROM sluice_hosts RETURNING host_id'; // as another host does when its lease has ended
    await expect.poll(async () => (await connections.query(taken)).length, patiently).toBe(1);
    const { code, stderr } = await run;
    expect([code, stderr]).toEqual([1, expect.stringContaining('is lost to this host')]);
    await connections.close();
  });

  it('has nothing that is for a file done to it, and a file nothing that is for a database', async () => {
    const sluice = await project(await newDatabase());
    for (const action of ['compact', 'repair']) {
      const { code, stderr } = await sluice(['journal', action]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('this is for a file')]);
    }
    await sluice(['run', '--quiet', '--journal', 'kept.db'], 'hello\n'); // the option names a file in its place
    const { code, stderr } = await sluice(['journal', 'migrate', '--journal', 'kept.db']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no tables to make')]);
  });

  it('says which package to install, and names no password', async () => {
    const url = 'postgres://sluice:hunter22@127.0.0.1:1/none';
    const missing = await (await project(url, false))(['run', '--quiet'], 'hello\n');
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringMatching(/npm install .*postgres/),
    ]);
    const away = await (await project(url))(['run', '--quiet'], 'hello\n');
    expect(away.code).not.toBe(0);
    expect(away.stderr).toContain('ECONNREFUSED');
    expect(missing.stderr + away.stderr).not.toContain('hunter22');
  });
});
