import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../src/journal/index.js';
import { testFolder } from '../../support/folder.js';
import { jsonLines } from '../cli.js';
import { runInMemory } from '../memory-shell.js';

it('sluice verify is good, then bad, in a journal and in an export of either format (record §4.1, record §4.2, record §5.1)', async () => {
  const cwd = testFolder();
  const journal = {
    path: 'sluice.db',
    record: { key: 'host.key', checkpoints: 'elsewhere.jsonl' },
  };
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ journal }));
  const sluice = (args: string, input = '') => runInMemory(args.split(' '), input, { cwd });
  expect(await sluice('record checkpoint')).toMatchObject({ code: 2 }); // there is no journal yet
  for (const words of ['first', 'second']) await sluice('run --quiet', `${words}\n`);
  const good = await sluice('verify --checkpoint elsewhere.jsonl --key host.key');
  expect([good.code, good.stderr]).toEqual([0, '']);
  expect(good.stdout).toMatch(/^good; \d+ records, 2 checkpoints\n$/);
  const [last] = jsonLines((await sluice('record checkpoint')).stdout);
  expect(last).toMatchObject({ kind: 'checkpoint', number: 2 });
  expect(readFileSync(join(cwd, 'elsewhere.jsonl'), 'utf8')).toContain(JSON.stringify(last));
  for (const format of ['jsonl', 'cloudevents']) {
    const { stdout } = await sluice(`record export --format ${format}`);
    const file = join(cwd, `${format}.jsonl`);
    const verify = () => sluice(`verify ${file} --key host.key --json`);
    writeFileSync(file, stdout);
    expect(await verify()).toMatchObject({ code: 0 });
    const lines = stdout.split('\n');
    const at = lines.findIndex((line) => line.includes('"ingress.received"'));
    writeFileSync(
      file,
      lines.with(at, (lines[at] ?? '').replace('ingress.received', 'ingress.refused')).join('\n'),
    );
    const bad = await verify();
    expect(bad.code).toBe(1);
    expect(jsonLines(bad.stdout)).toContainEqual(expect.objectContaining({ kind: 'changed' }));
  }
  await sluice('record rotate');
  await sluice('run --quiet', 'third\n');
  expect(await sluice('verify --checkpoint elsewhere.jsonl')).toMatchObject({ code: 0 });
  {
    using database = openSqlite(join(cwd, 'sluice.db'));
    database.exec('DELETE FROM dispatches WHERE seq = (SELECT min(seq) FROM dispatches)');
  }
  const bad = await sluice('verify');
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^(moved|removed): .*row \d+/m);
  expect(bad.stdout).toMatch(/^removed: slot \d+, number 1, /m);
  expect(bad.stdout).toContain('note: no key and no checkpoint from elsewhere was given');
  expect(await sluice('verify nowhere.jsonl')).toMatchObject({ code: 2 });
  expect(await sluice('verify sluice.config.json')).toMatchObject({ code: 2 });
});
