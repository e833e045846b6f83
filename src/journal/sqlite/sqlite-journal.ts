import { type Clock, isSluiceError, type SluiceError, systemClock } from 'sluice-kernel';
import { GroupCommit } from '../commit/group-commit.js';
import { WaitingDispatches } from '../commit/waiting-dispatches.js';
import { checkInChild } from '../database/check-in-child.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { wholeOwnership } from '../fence.js';
import { numberOf } from '../file/journal-file.js';
import type { Journal } from '../journal.js';
import { journalChanges, noteTending, writtenChanges } from '../journal-changes.js';
import { examineRows } from '../rows/examine-rows.js';
import { SqliteKeyValues, writtenKeyValues } from '../rows/sqlite-key-values.js';
import { damageError } from '../rows/table-rows.js';
import type { Store } from '../store.js';
import { withoutSecrets } from '../without-secrets.js';
import { journalGuard } from './journal-guard.js';
import { type Retention, RetentionSweep } from './retention.js';
import { sqliteRecords } from './sqlite-reader.js';
import { sqliteDispatches, sqliteRows } from './sqlite-rows.js';
import { sqliteStore } from './sqlite-store.js';

/**
 * Makes the journal of an open file, for `openJournal`. `checkLater` looks at all of the file while it is used: after damage
 * it takes nothing in.
 */
export function fileJournal(
  database: SqliteDatabase,
  lock: Disposable | undefined,
  options: JournalOptions,
): SqliteJournal & { checkLater(): void } {
  const { clock = systemClock, secrets = [] } = options;
  const clean = withoutSecrets(secrets);
  const rows = sqliteRows(database, clean);
  const dispatches = sqliteDispatches(database);
  const waiting = new WaitingDispatches(dispatches, clock, () => commits.carry(), clean);
  const guard = journalGuard(database);
  const commits: GroupCommit = new GroupCommit(database, {
    ...{ clock, passenger: waiting, guard },
    probe: () => guard.probe(),
  });
  const store = sqliteStore(database, commits, clean);
  const sweep = new RetentionSweep(database, commits, clock, options);
  const values = new SqliteKeyValues(database, () => clock.now());
  const keyValues = writtenKeyValues(values, (work) => {
    sweep.grows(0); // time alone may make a sweep due
    return commits.write(work);
  });
  const ownership = wholeOwnership();
  const changes = writtenChanges(journalChanges(rows, clock, ownership), (work) =>
    commits.write(work),
  );
  const { tending, wasTended } = noteTending(changes);
  const records = sqliteRecords(database);
  const closing = new AbortController();
  const counted = { accepted: 0, duplicates: 0 };
  sweep.start();
  const readDataVersion = () => numberOf(database, 'PRAGMA data_version');
  let dataVersion = readDataVersion();
  const problem = (): SluiceError | undefined => guard.look() ?? commits.failure;
  const close = async (): Promise<void> => {
    closing.abort();
    waiting.close();
    sweep.close();
    try {
      await commits.close();
      if (problem() === undefined) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
      lock?.[Symbol.dispose]();
    }
  };
  let closed: Promise<void> | undefined;
  return {
    acknowledge: 'persisted',
    ...{ path: database.path, ownership, store, keyValues, problem },
    ...records,
    ...changes,
    ...tending,
    checkLater: () => {
      void checkLater(database, clock, closing.signal).then((damage) => {
        if (damage !== undefined) guard.fail(damage);
      });
    },
    accept: async (update, isBegun, mostOpen) => {
      sweep.grows(update.body?.length ?? 0);
      const accepted = await changes.accept(update, isBegun, mostOpen);
      counted[accepted.status === 'known' ? 'duplicates' : 'accepted']++;
      return accepted;
    },
    prepare: (fence, send, isSending) => {
      sweep.grows(send.body.length);
      return changes.prepare(fence, send, isSending);
    },
    dispatched: (dispatch) => {
      waiting.add(dispatch);
      sweep.grows(dispatch.body.length);
    },
    dispatches: async (filter) => {
      await commits.settled(); // some may still wait
      return records.dispatches(filter);
    },
    changedOutside: () => {
      const before = dataVersion;
      dataVersion = readDataVersion();
      return wasTended() || dataVersion !== before;
    },
    stats: () => ({ ...counted, ...waiting.stats(), ...commits.times }),
    close: () => (closed ??= close()),
  };
}

/** The milliseconds that are left to other work, for each millisecond of looking at rows. */
const restFactor = 3;

/**
 * Looks at all of a journal that is in use: every page and index in a process of its own, then every row with its sums, a few at
 * a time. Never rejects.
 *
 * @returns the first damage; `undefined` if there is none, or if the signal has aborted.
 * @example
 * const problem = await checkLater(database, systemClock, signal);
 */
async function checkLater(
  database: SqliteDatabase,
  clock: Clock,
  signal: AbortSignal,
): Promise<SluiceError | undefined> {
  const problem = await checkInChild(database.path, signal);
  if (problem !== undefined || signal.aborted) return problem;
  try {
    let fromMs = clock.monotonicMs();
    for (const [first] of examineRows(database)) {
      if (first !== undefined) return damageError(database.path, first);
      await rest(clock, (clock.monotonicMs() - fromMs) * restFactor);
      if (signal.aborted) return undefined;
      fromMs = clock.monotonicMs();
    }
    return undefined;
  } catch (error) {
    return isSluiceError(error) && !signal.aborted ? error : undefined;
  }
}

function rest(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve);
    else clock.setTimeout(resolve, ms).unref?.();
  });
}

/** The options of opening a journal. */
export interface JournalOptions extends Retention {
  readonly clock?: Clock;
  /** Texts that no record may quote, such as the secrets of a config (spec §20.8). */
  readonly secrets?: readonly string[];
  /** The most pages of 4,096 bytes that the file may have, by default as many as the disk takes. */
  readonly maxPages?: number;
  /** Bytes of a file that are looked at before it is used, by default 32 MiB. A larger file is looked at meanwhile. */
  readonly wholeCheckBytes?: number;
}

/** A journal in a file, and the sessions beside it. */
export interface SqliteJournal extends Journal {
  readonly path: string;
  /** Sessions and transcripts, in the same file. */
  readonly store: Store;
}
