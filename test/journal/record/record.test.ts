import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryJournal, openJournal, openSqlite, tendJournal } from '../../../src/journal/index.js';
import {
  canonicalJson,
  entryKinds,
  forgetInFile,
  publicKeyIn,
  RecordChain,
  Recorder,
  readStatements,
  rotateKey,
  signNext,
} from '../../../src/journal/internal.js';
import { proofOf, proven } from '../../../src/journal/record/proof.js';
import type { KeyValues } from '../../../src/sdk/extension/index.js';
import { virtualClock } from '../../../src/testing/index.js';
import { compiled } from '../../support/compiled.js';
import { aDispatch } from '../journal-contract.js';
import {
  checkpointsIn,
  exportedLines,
  recordPlace,
  someDispatches,
  verifyFile,
  verifyLines,
  writeRecord,
} from './record-lab.js';

describe('a record in a file', () => {
  it('is good when nobody has changed it, over restarts, in the journal and in what was exported (record §4.1)', async () => {
    const place = recordPlace();
    await writeRecord(place, someDispatches(40));
    await writeRecord(place, someDispatches(23, 5, 40));
    expect(await verifyFile(place.path, checkpointsIn(place))).toEqual({
      ...{ records: 63, unsigned: 0, forgotten: 0, before: 0, checkpoints: 2 },
      ...{ findings: [], notes: [] },
    });
    expect(statSync(place.record.keyFile).mode & 0o777).toBe(0o600);
    const lines = await exportedLines(place.path);
    expect(await verifyLines(lines)).toMatchObject({ records: 63, findings: [] });
    const since = await exportedLines(place.path, Date.now());
    expect(await verifyLines(since)).toMatchObject({ records: 0, findings: [] });
    expect((await verifyLines(since, checkpointsIn(place)))?.notes).toEqual([
      'it begins behind checkpoint 2: nothing is said of the records before',
    ]);
  });

  it('begins in a journal that has rows, and finds what a host without it has written (record §2.4)', async () => {
    const place = recordPlace();
    const write = async (at: number) => {
      const plain = await openJournal(place.path, { keepForMs: Number.POSITIVE_INFINITY });
      for (const one of someDispatches(5, 3, at))
        plain.dispatched({ ...one, occurredAtMs: Date.now() });
      await plain.close();
    };
    await write(0);
    await writeRecord(place, someDispatches(10, 3, 10));
    expect(await verifyFile(place.path)).toMatchObject({ records: 10, before: 5, findings: [] });
    await write(20);
    const { findings } = await verifyFile(place.path);
    expect(findings.map(({ kind }) => kind)).toEqual(Array(5).fill('added'));
  });

  it('says what it cannot say without a key or a checkpoint from elsewhere (record §4.3, record §4.4)', async () => {
    const place = recordPlace();
    await writeRecord(place, someDispatches(10));
    const { notes, findings } = await verifyFile(place.path);
    expect(findings).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('made all of it anew'), expect.any(String)]);
    const other = recordPlace();
    await writeRecord(other, someDispatches(10));
    const keys = [publicKeyIn(other.record.keyFile)];
    expect((await verifyFile(place.path, { keys })).findings).not.toEqual([]);
    expect((await verifyFile(place.path, checkpointsIn(other))).findings).not.toEqual([]);
  });

  it('is signed a minute after its first record, and not at each (record §3.1)', async () => {
    const { path, record } = recordPlace();
    const clock = virtualClock();
    const journal = await openJournal(path, { record, clock, keepForMs: Number.POSITIVE_INFINITY });
    const signed = () => {
      const kept = statSync(String(record.checkpointFile), { throwIfNoEntry: false });
      return kept === undefined
        ? 0
        : readFileSync(String(record.checkpointFile), 'utf8').split('\n').length - 1;
    };
    for (const [at, one] of someDispatches(20).entries()) {
      journal.dispatched(one);
      await journal.dispatches({ limit: 1 });
      if (at === 9) await clock.advance(59_000);
      if (at < 10) expect(signed()).toBe(0);
    }
    await clock.advance(2_000);
    await expect.poll(signed).toBe(1);
    await clock.advance(600_000);
    await journal.close();
    expect(signed()).toBe(1); // nothing has come since
  });

  it('keeps the checkpoint elsewhere later, if it cannot be kept there at once, and says so (record §3.1)', async () => {
    const { path, folder, record } = recordPlace();
    const clock = virtualClock();
    const failures: unknown[] = [];
    const checkpointFile = join(folder, 'away', 'elsewhere.jsonl');
    const onFailure = (error: unknown) => void failures.push(error);
    const journal = await openJournal(path, {
      record: { ...record, checkpointFile, onFailure },
      clock,
    });
    journal.dispatched(aDispatch('e-1', { occurredAtMs: clock.now() }));
    await journal.dispatches();
    await clock.advance(61_000);
    await expect.poll(() => failures).toMatchObject([{ code: 'record-not-kept-elsewhere' }]);
    mkdirSync(join(folder, 'away'));
    await journal.close();
    expect(readFileSync(checkpointFile, 'utf8')).toMatch(/^{"kind":"checkpoint".*}\n$/);
    expect(failures).toHaveLength(1);
  });

  it('holds when texts are forgotten, and tells how many (record §3.5)', async () => {
    const place = recordPlace();
    const payload = { conversation: { id: 'c-7' }, content: 'a secret of mine' };
    const body = JSON.stringify({ status: 'passed', event: { payload } });
    await writeRecord(place, [
      ...someDispatches(8),
      ...['f-1', 'f-2'].map((id) => aDispatch(id, { correlationId: 'u-9', body })),
      ...someDispatches(8, 3, 8),
    ]);
    await forgetInFile(
      place.path,
      { of: 'conversation', id: 'c-7' },
      false,
      new AbortController().signal,
    );
    const trusted = checkpointsIn(place);
    expect(await verifyFile(place.path, trusted)).toMatchObject({
      records: 18,
      forgotten: 2,
      findings: [],
    });
    expect(await verifyLines(await exportedLines(place.path), trusted)).toMatchObject({
      findings: [],
    });
    expect(readFileSync(place.path, 'latin1')).not.toContain('secret of mine');
  });

  it('is cut at a signed checkpoint when old records go, and proven from there on (record §3.4)', async () => {
    const { path, record } = recordPlace();
    const clock = virtualClock();
    const dayMs = 86_400_000;
    for (let day = 0; day < 4; day++) {
      const journal = await openJournal(path, { record, clock, keepForMs: 2 * dayMs });
      for (const one of someDispatches(30, 4, day * 100))
        journal.dispatched({ ...one, occurredAtMs: clock.now() });
      await journal.dispatches({ limit: 1, kinds: entryKinds });
      await clock.advance(dayMs);
      await journal.close();
    }
    const journal = await openJournal(path, { record, clock, keepForMs: 2 * dayMs });
    const left = async () => (await journal.dispatches({ kinds: entryKinds })).length;
    await expect.poll(left, { timeout: 20_000 }).toBeLessThan(120);
    await journal.close();
    const { records, findings } = await verifyFile(path);
    expect(findings).toEqual([]);
    expect(records).toBeGreaterThan(0);
    expect(records).toBeLessThan(120);
  });

  it('is cut when its file is too large (record §3.4)', async () => {
    const place = recordPlace();
    const large = someDispatches(40).map((one, at) => ({
      ...one,
      body: JSON.stringify(Array.from({ length: 2_000 }, (_, nth) => Math.sin(at * nth))),
    }));
    for (let round = 0; round < 6; round++) await writeRecord(place, large.slice(0, 10));
    const journal = await openJournal(place.path, {
      record: place.record,
      keepForMs: 1e13,
      keepBytes: 300_000,
    });
    const left = async () => (await journal.dispatches({ kinds: entryKinds })).length;
    await expect.poll(left, { timeout: 5_000 }).toBeLessThan(60);
    await journal.close();
    expect((await verifyFile(place.path)).findings).toEqual([]);
  });

  it('goes on with another key that the old one has signed, by the command or by another file (record §3.3)', async () => {
    const place = recordPlace();
    await writeRecord(place, someDispatches(10));
    const keys = [publicKeyIn(place.record.keyFile)];
    {
      await using journal = await tendJournal(place.path);
      await rotateKey(place.record.keyFile, (old, next) =>
        signNext(journal.keyValues, old, next, 1),
      );
    }
    const journal = await openJournal(place.path, {
      record: place.record,
      keepForMs: Number.POSITIVE_INFINITY,
    });
    for (const one of someDispatches(10, 3, 10)) journal.dispatched(one);
    await rotateKey(place.record.keyFile, async () => undefined); // the host finds another file
    await journal.close();
    expect(publicKeyIn(place.record.keyFile)).not.toBe(keys[0]);
    expect(await verifyFile(place.path, { keys })).toMatchObject({
      records: 20,
      checkpoints: 2,
      findings: [],
    });
    chmodSync(place.record.keyFile, 0o644);
    const options = { record: place.record };
    await expect(openJournal(place.path, options)).rejects.toMatchObject({
      code: 'bad-record-key',
    });
    chmodSync(place.record.keyFile, 0o600);
    writeFileSync(place.record.keyFile, 'no key');
    await expect(openJournal(place.path, options)).rejects.toMatchObject({
      code: 'bad-record-key',
    });
  });

  it('is signed, and its host ends, when somebody has written over its last checkpoint (record §3.1)', async () => {
    const place = recordPlace();
    for (const at of [0, 10]) await writeRecord(place, someDispatches(10, 3, at));
    const other = '{"kind":"checkpoint"}';
    await changeStatements(place.path, ({ key }) => (key.endsWith('2') ? other : undefined));
    await writeRecord(place, someDispatches(10, 3, 20));
    const { findings, unsigned } = await verifyFile(place.path);
    expect(findings[0]?.problem).toContain('checkpoint/0000000002 cannot be read');
    expect(unsigned).toBe(0);
  });

  it('begins behind the numbers of rows that are gone (record §4.1)', async () => {
    const place = recordPlace();
    const plain = await openJournal(place.path);
    for (const one of someDispatches(5)) plain.dispatched(one);
    await plain.close();
    {
      using database = openSqlite(place.path);
      database.exec('DELETE FROM dispatches');
    }
    await writeRecord(place, someDispatches(5));
    expect(await verifyFile(place.path)).toMatchObject({ records: 5, findings: [] });
  });

  it('signs nothing, and keeps all, if another host has cut it meanwhile (record §3.4)', async () => {
    const place = recordPlace();
    const { recorder, values, chain } = await aRecorder(place);
    const sign = async (id: string) => {
      chain.begin();
      chain.link([aDispatch(id)]);
      chain.settle(true);
      await recorder.sign();
    };
    for (const id of ['e-1', 'e-2', 'e-3']) await sign(id);
    const { cut } = await readStatements(values);
    const written = { body: JSON.stringify({ ...cut, atMs: 7 }) };
    const slow: KeyValues = {
      ...values,
      write: async (namespace, key, ...rest) => {
        if (key === 'cut') await values.write(namespace, key, written, {}); // another host is first
        return values.write(namespace, key, ...rest);
      },
    };
    const late = await aRecorder(place, slow);
    expect(await late.recorder.cut(Date.now() + 1_000)).toMatchObject({
      number: 0,
      hasMore: false,
    });
    expect((await readStatements(values)).checkpoints).toHaveLength(3);
  });

  it('is not signed, and says so, while another host is always first (record §3.1)', async () => {
    const failures: unknown[] = [];
    const { keyValues } = memoryJournal();
    let tries = 0;
    const taken: KeyValues = {
      ...keyValues,
      write: async (namespace, key, ...rest) => {
        if (!key.startsWith('checkpoint/')) return keyValues.write(namespace, key, ...rest);
        tries++;
        return { status: 'conflict' };
      },
    };
    const onFailure = (error: unknown) => void failures.push(error);
    const { recorder, chain } = await aRecorder(recordPlace(), taken, onFailure);
    chain.begin();
    chain.link([aDispatch('e-1')]);
    chain.settle(true);
    await recorder.sign();
    expect(failures).toMatchObject([{ code: 'record-not-signed' }]);
    expect(tries).toBe(50);
  });

  it('does not take a cut as its own that somebody has written over (record §3.4, record §4.2)', async () => {
    const { path, record } = recordPlace();
    const clock = virtualClock();
    for (let at = 0; at < 6; at++) {
      const journal = await openJournal(path, { record, clock, keepForMs: 1e9 });
      const rare = at % 5 === 0 ? [aDispatch(`rare-${at}`, { correlationId: 'rare' })] : [];
      for (const one of [...someDispatches(9, 1, at * 10), ...rare])
        journal.dispatched({ ...one, occurredAtMs: clock.now() });
      await journal.close();
      await clock.advance(100_000);
    }
    const cut = async (keepForMs: number, number: number) => {
      const journal = await openJournal(path, { record, clock, keepForMs });
      const now = async () => (await readStatements(journal.keyValues)).cut?.number;
      await expect.poll(now, { timeout: 20_000 }).toBe(number);
      await journal.close();
    };
    await cut(450_000, 2);
    const kept = checkpointsIn({ record } as ReturnType<typeof recordPlace>);
    expect((await verifyFile(path, kept)).findings).toEqual([]);
    const { heads } = JSON.parse(
      readFileSync(String(record.checkpointFile), 'utf8').trimEnd().split('\n').at(-1) ?? '',
    );
    await changeStatements(path, ({ key, body }) =>
      key === 'cut' ? JSON.stringify({ ...JSON.parse(body), heads }) : undefined,
    );
    await cut(150_000, 5); // the host signs the heads that were put in
    expect((await verifyFile(path, kept)).findings).not.toEqual([]);
  });

  it('verifies after each kill of its host (record §1.4, child processes)', async () => {
    const { path, folder } = recordPlace();
    const child = await compiled(
      fileURLToPath(new URL('./fixtures/keeps-records.ts', import.meta.url)),
    );
    let persisted = 0;
    for (let round = 0; round < 5; round++) {
      const host = spawn(
        process.execPath,
        [child, path, join(folder, 'key'), String(round * 10_000)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      for (let seen = 0; seen <= 3 * round; seen++) await once(host.stdout, 'data');
      host.kill('SIGKILL');
      await once(host, 'exit');
      const { records, findings } = await verifyFile(path);
      expect(findings).toEqual([]);
      expect(records).toBeGreaterThan(persisted);
      persisted = records;
    }
  });
});

/** Writes other bodies into the statements of a journal, with sums that fit. */
async function changeStatements(
  path: string,
  change: (one: { readonly key: string; readonly body: string }) => string | undefined,
): Promise<void> {
  await using journal = await tendJournal(path);
  for (const one of await journal.keyValues.list('/record', { prefix: '', limit: 1_000 })) {
    const body = change(one);
    if (body !== undefined) await journal.keyValues.write('/record', one.key, { body }, {});
  }
}

/** A recorder of its own over the values of a journal in memory. */
async function aRecorder(
  { record }: ReturnType<typeof recordPlace>,
  given?: KeyValues,
  onFailure: (error: unknown) => void = () => undefined,
) {
  const chain = new RecordChain(() => undefined);
  const values = given ?? memoryJournal().keyValues;
  const parts = { ...record, chain, clock: virtualClock(), lastSeq: () => 0, onFailure };
  const recorder = new Recorder(parts);
  await recorder.start(values);
  return { recorder, values, chain };
}

describe('a proof', () => {
  it('covers canonical JSON, which has one text for the same data (record §1.3)', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const turned: unknown = JSON.parse(JSON.stringify(value), (_, one) =>
          Array.isArray(one) || typeof one !== 'object' || one === null
            ? one
            : Object.fromEntries(Object.entries(one).reverse()),
        );
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(
      canonicalJson({ '\u20ac': 1, '\r': [1e21, 0.000001, -0], '1': { b: undefined, a: null } }),
    ).toBe('{"\\r":[1e+21,0.000001,0],"1":{"a":null},"\u20ac":1}');
  });

  it('is read as it was written, and else not at all', () => {
    const [proof] = proven(aDispatch('e-1'), 7, { number: 3, digest: 'x' }, null);
    expect(proofOf({ proof })).toMatchObject({ slot: 7, number: 4 });
    for (const at of proof.split('').keys())
      expect(proofOf({ proof: proof.slice(0, at) + proof.slice(at + 1) })).not.toMatchObject(
        proofOf({ proof }) ?? {},
      );
  });
});
