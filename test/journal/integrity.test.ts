import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal, openSqlite, readJournal, tendJournal } from '../../src/journal/index.js';
import { repairJournal } from '../../src/journal/internal.js';
import { fence, fenceOf } from '../support/fences.js';
import { testFolder } from '../support/folder.js';
import { aDispatch, anUpdate, aSend } from './journal-contract.js';

const code = (wanted: string) => expect.objectContaining({ code: wanted });
const newPath = () => join(testFolder(), 'sluice.db');
const secondsMs = 60_000; // opening is cheap; the machine may be busy

/** A journal with one row in each of its tables, closed. */
async function smallJournal(): Promise<string> {
  const path = newPath();
  const journal = await openJournal(path);
  await journal.accept(anUpdate('u-1', { body: '"the body of an update"', lane: 'a lane' }));
  await journal.prepare(fence, aSend('s-1', { body: '"the body of a send"' }));
  journal.dispatched(
    aDispatch('d-1', { body: '"the body of a dispatch"', occurredAtMs: Date.now() }),
  );
  await journal.store.saveSession(
    {
      sessionKey: 'key of a session',
      sessionId: 'one',
      agentId: 'main',
      context: {},
      memoryKeys: [],
      metadata: {},
    },
    { fence },
  );
  await journal.store.appendMessage('one', { role: 'user', content: 'of a transcript' }, { fence });
  await journal.close();
  return path;
}

/** Changes a byte of a text that is in the file once. */
function flip(path: string, text: string, mask: number): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  expect(bytes.indexOf(text, at + 1)).toBe(-1);
  bytes[at] = (bytes[at] ?? 0) ^ mask;
  writeFileSync(path, bytes);
}

describe('H1: one flipped bit of a row', { timeout: secondsMs }, () => {
  it.each([
    ['updates', 'the body of an update', 'row 1 of updates, body'],
    ['sends', 'the body of a send', 'row 1 of sends, body'],
    ['dispatches', 'the body of a dispatch', 'row 1 of dispatches, body'],
    ['sessions', '{"sessionKey"', 'row 1 of sessions, body'],
    ['transcripts', 'of a transcript', 'row 1 of transcripts, body'],
  ])('of %s is database-damaged, with its place (durability §1.6)', async (_, text, place) => {
    for (const mask of [0x80, 0x01]) {
      const path = await smallJournal();
      flip(path, text, mask); // 0x80: no UTF-8 any more; 0x01: a text like any other
      await expect(openJournal(path)).rejects.toThrow(code('database-damaged'));
      await expect(openJournal(path)).rejects.toThrow(place);
      await expect(readJournal(path)).rejects.toThrow(code('database-damaged'));
    }
  });

  it('beside its body is found, too (durability §1.6)', async () => {
    const path = await smallJournal();
    const journal = await openJournal(path);
    await journal.begin('u-1');
    await journal.endUpdate(fenceOf('u-1'), {
      isDead: true,
      outcome: 'failed',
      reason: 'because of this',
    });
    await journal.close();
    flip(path, 'because of this', 0x01);
    await expect(openJournal(path)).rejects.toThrow('row 1 of updates, its sum does not fit');
  });

  it('is found while a host runs: what needs the row fails, and nothing else (durability §1.6)', async () => {
    const journal = await openJournal(newPath());
    await journal.accept(anUpdate('bad'));
    await journal.accept(anUpdate('good'));
    const other = openSqlite(journal.path); // stands for damage: it knows of no sums
    other.exec(`UPDATE updates SET body = '"other words"', attempts = 7 WHERE event_id = 'bad'`);
    other.close();
    const [bad, good] = await Promise.allSettled([journal.begin('bad'), journal.begin('good')]);
    expect(bad).toMatchObject({ status: 'rejected', reason: code('database-damaged') });
    expect(good).toMatchObject({ status: 'fulfilled', value: { attempts: 1 } });
    await expect(journal.updates()).rejects.toThrow('row 1 of updates');
    expect(await journal.updates({ eventId: 'good' })).toHaveLength(1);
    await expect(journal.accept(anUpdate('bad'))).rejects.toThrow(code('database-damaged'));
    await journal.close();
  });
});

describe('a journal whose schema is damaged', { timeout: secondsMs }, () => {
  it('is refused by a host, and a repair finds its tables where those of every journal are (durability §1.12)', async () => {
    const path = await smallJournal();
    const bytes = readFileSync(path);
    bytes.write('CREATE TABLE sands', bytes.indexOf('CREATE TABLE sends'));
    writeFileSync(path, bytes);
    await expect(openJournal(path)).rejects.toThrow(code('database-damaged'));
    const { signal } = new AbortController();
    const { kept, moved, copy } = await repairJournal(path, 'x', signal);
    expect([kept, moved]).toEqual([5, 0]);
    expect(readFileSync(copy ?? '').equals(bytes)).toBe(true);
    await (await openJournal(path)).close();
  });
});

describe('a larger journal', { timeout: secondsMs }, () => {
  it('is not read as a whole by who only looks into it: a bad row is found when it is read (durability §1.3)', async () => {
    const path = await smallJournal();
    const journal = await openJournal(path);
    const body = `"${'y'.repeat(8_000)}"`;
    for (let at = 0; at < 700; at++)
      journal.dispatched(aDispatch(`e-${at}`, { body, occurredAtMs: Date.now() }));
    await journal.close();
    expect(statSync(path).size).toBeGreaterThan(4 * 1024 * 1024);
    flip(path, 'the body of a dispatch', 0x01);
    await expect(openJournal(path)).rejects.toThrow(code('database-damaged')); // a host looks at all of it
    for (const open of [readJournal, tendJournal]) {
      const reader = await open(path);
      expect(await reader.updates()).toHaveLength(1);
      await expect(reader.dispatches({ eventId: 'd-1' })).rejects.toThrow('row 1 of dispatches');
      expect(await reader.dispatches({ eventId: 'e-1' })).toHaveLength(1);
      await reader.close();
    }
  });
});
