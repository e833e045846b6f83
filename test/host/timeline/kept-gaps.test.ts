import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  foldTimeline,
  followJournal,
  keepTimeline,
  readTimeline,
  type TimelineEntry,
  timelineRecorder,
} from '../../../src/host/index.js';
import { dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import { WaitingDispatches } from '../../../src/journal/commit/waiting-dispatches.js';
import { openSqlite } from '../../../src/journal/database/open-sqlite.js';
import { openJournalFile } from '../../../src/journal/file/journal-file.js';
import { memoryJournal, openJournal, readJournal } from '../../../src/journal/index.js';
import type { NewDispatch } from '../../../src/journal/journal.js';
import { sqliteDispatches } from '../../../src/journal/sqlite/sqlite-rows.js';
import { createKernel, systemClock } from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/index.js';
import { explained } from '../../support/explained.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const tooMuch = 'x'.repeat(64 * 1024 * 1024 + 1);

/** A lane of a message, as a journal keeps it. */
function lane(id: string, correlationId = 'u-1', body?: string): NewDispatch {
  const entry = { kind: 'lane', of: 'session', lane: 'main', waitedMs: 0, atMs: 1, id };
  return {
    ...{ eventId: id, correlationId, family: 'lane', sessionId: null, status: 'passed' },
    ...{
      occurredAtMs: 1,
      omitted: 'lane',
      body: body ?? JSON.stringify({ ...entry, correlationId }),
    },
  };
}

function damage(path: string, seq: number): void {
  const database = openSqlite(path); // it knows of no sums
  database.prepare("UPDATE dispatches SET family = 'other' WHERE seq = ?").run(seq);
  database.close();
}

async function followed(
  path: string,
  { damaged = 0, ...from }: { damaged?: number; from?: 'now' } = {},
): Promise<TimelineEntry[]> {
  await using reader = await readJournal(path);
  if (damaged > 0) damage(path, damaged); // after it was looked at whole
  const all: TimelineEntry[] = [];
  for await (const record of followJournal(reader, { follow: false, ...from })) all.push(record);
  return all;
}

const shown = (records: readonly TimelineEntry[]) =>
  records.map((one) => (one.kind === 'gap' ? `${one.count} ${one.why}` : one.id));

const room = { characters: 1_000_000, isSpent: () => false };

/** Dispatches that wait for the file of a journal; each `commit` is a transaction. */
async function waitingFor(path: string) {
  await (await openJournal(path)).close();
  const database = openJournalFile(path, {});
  const waiting = new WaitingDispatches(
    sqliteDispatches(database),
    systemClock,
    () => undefined,
    (text) => text,
  );
  const commit = (isKept = true): void => {
    try {
      database.transaction(() => {
        waiting.write(room);
        if (!isKept) throw new Error('the disk is full');
      });
    } catch {}
    waiting.written(isKept);
  };
  return { waiting, commit, close: () => database.close() };
}

describe('a gap in the file of a journal', () => {
  it('stands before the next entry that is written, whatever message that belongs to (sight §2.1)', async () => {
    using folder = temporaryFolder({});
    const path = join(folder.path, 'sluice.db');
    const journal = await openJournal(path);
    journal.dispatched(lane('a'));
    journal.dispatched(lane('lost', 'u-1', tooMuch));
    journal.dispatched(lane('b'));
    journal.dispatched(lane('c', 'u-2'));
    await journal.close();
    expect(shown(await followed(path))).toEqual(['a', '1 dropped', 'b', 'c']);
  });

  it('counts what a transaction has lost once, and the numbers go on (sight §2.1)', async () => {
    using folder = temporaryFolder({});
    const path = join(folder.path, 'sluice.db');
    const { waiting, commit, close } = await waitingFor(path);
    waiting.add(lane('a'));
    waiting.add(lane('b', 'u-2'));
    commit(false);
    waiting.add(lane('c'));
    commit();
    close();
    expect(shown(await followed(path))).toEqual(['2 dropped', 'c']);
  });

  it('tells of the entries of a gap that was lost itself (sight §2.1)', async () => {
    using folder = temporaryFolder({});
    const path = join(folder.path, 'sluice.db');
    const { waiting, commit, close } = await waitingFor(path);
    waiting.add(lane('lost', 'u-1', tooMuch));
    waiting.add(lane('a')); // behind the gap of one
    commit(false);
    waiting.add(lane('b'));
    commit();
    close();
    expect(shown(await followed(path))).toEqual(['2 dropped', 'b']);
  });
});

describe('a record that cannot be read', () => {
  it('shows as a gap to a follower, which goes on (sight §2.2)', async () => {
    const journal = memoryJournal();
    journal.dispatched(lane('a'));
    journal.dispatched(lane('b', 'u-1', '{}'));
    journal.dispatched(lane('c'));
    const all: TimelineEntry[] = [];
    for await (const one of followJournal(journal, { follow: false })) all.push(one);
    expect(shown(all)).toEqual(['a', '1 gone', 'c']);
    journal.dispatched(lane('d', 'u-1', '{}'));
    const how = { consumer: 'billing', follow: false } as const;
    const again: TimelineEntry[] = [];
    for await (const one of followJournal(journal, how)) again.push(one);
    expect(shown(again)).toEqual(['a', '1 gone', 'c', '1 gone']);
    for await (const one of followJournal(journal, how)) again.push(one);
    expect(again).toHaveLength(4);
  });

  it('shows as a gap if its row is damaged (sight §2.2), and now is behind it (sight §3.2)', async () => {
    using folder = temporaryFolder({});
    const path = join(folder.path, 'sluice.db');
    const journal = await openJournal(path);
    for (const id of ['a', 'b', 'c']) journal.dispatched(lane(id, `u-${id}`));
    await journal.close();
    const copy = join(folder.path, 'copy.db');
    copyFileSync(path, copy);
    expect(shown(await followed(path, { damaged: 2 }))).toEqual(['a', '1 gone', 'c']);
    expect(await followed(copy, { damaged: 3, from: 'now' })).toEqual([]);
  });

  it('is none if a dispatch is too long even without its payloads (sight §3.1)', async () => {
    const journal = memoryJournal();
    const kernel = createKernel({ tap: dispatchTap(journal, { maxDispatchLength: 10 }) });
    await kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
    const [record] = await readTimeline(journal);
    expect(record).toMatchObject({ kind: 'dispatch', outcome: { omitted: 'too-large' } });
    if (record?.kind === 'dispatch') expect(explained(record.outcome)).not.toEqual([]);
  });

  it('is none if only its texts are too long to be persisted (sight §1.5)', async () => {
    const journal = memoryJournal();
    const timeline = timelineRecorder();
    timeline.listen(keepTimeline(journal));
    const about = { kind: 'send', id: 's-1', correlationId: 'u-1', sendKind: 'reply' } as const;
    timeline.record(() => ({ ...about, state: 'failed', reason: 'x'.repeat(20_000) }));
    const { sends } = foldTimeline(await readTimeline(journal, { correlationId: 'u-1' }));
    expect(sends).toMatchObject([{ id: 's-1', last: { state: 'failed' } }]);
  });
});
