import { type Clock, isSluiceError, type SluiceError, systemClock } from 'sluice-kernel';
import { databaseJournal } from '../commit/database-journal.js';
import { GroupCommit } from '../commit/group-commit.js';
import { WaitingDispatches } from '../commit/waiting-dispatches.js';
import { checkInChild } from '../database/in-child.js';
import type { SqliteDatabase } from '../database/open-sqlite.js';
import { wholeOwnership } from '../fence.js';
import { numberOf } from '../file/journal-file.js';
import type { Journal } from '../journal.js';
import { journalChanges, writtenChanges } from '../journal-changes.js';
import { both, type Scrub } from '../privacy/scrub.js';
import type { RecordOptions } from '../record/recorder.js';
import { checkRows } from '../rows/examine-rows.js';
import { SqliteKeyValues } from '../rows/sqlite-key-values.js';
import type { Store } from '../store.js';
import { withoutSecrets } from '../without-secrets.js';
import type { FileRecord } from './file-record.js';
import { journalGuard } from './journal-guard.js';
import { FileRetention, type Retention } from './retention.js';
import { sqliteRecords } from './sqlite-reader.js';
import { sqliteDispatches, sqliteRows } from './sqlite-rows.js';
import { SqliteSessions } from './sqlite-sessions.js';

/**
 * Makes the journal of an open file, for `openJournal`. `checkLater` looks at all of the file while it is used: after damage
 * it takes nothing in.
 */
export function fileJournal(
  database: SqliteDatabase,
  lock: Disposable | undefined,
  options: JournalOptions,
  record?: FileRecord,
): SqliteJournal & { checkLater(): void } {
  const { clock = systemClock, secrets = [], scrub } = options;
  const clean = withoutSecrets(secrets);
  const ownership = wholeOwnership();
  const at = {
    changes: journalChanges(sqliteRows(database, { clean }), clock, ownership, scrub),
    sessions: new SqliteSessions(database),
    values: new SqliteKeyValues(database, () => clock.now()),
  };
  const dispatches = sqliteDispatches(database, record?.chain);
  const waiting = new WaitingDispatches(
    dispatches,
    clock,
    () => commits.carry(),
    both(clean, scrub),
    record?.chain,
  );
  const guard = journalGuard(database);
  const commits: GroupCommit<typeof at> = new GroupCommit(database, at, {
    ...{ clock, passenger: waiting, guard },
    probe: () => guard.probe(),
  });
  const retention = new FileRetention(database, commits, clock, options, record?.recorder);
  const closing = new AbortController();
  const problem = (): SluiceError | undefined => guard.look() ?? commits.failure;
  const journal = databaseJournal({
    ...{ ownership, clean, commits, waiting, problem, scrub },
    changes: writtenChanges((run) => commits.write(run)),
    records: sqliteRecords(database),
    ...{ values: at.values, sessions: at.sessions },
    grows: (characters) => retention.grows(characters),
    version: () => numberOf(database, 'PRAGMA data_version'),
    close: async () => {
      closing.abort();
      waiting.close();
      retention.close();
      try {
        await commits.settled();
        await record?.recorder.close();
        await commits.close();
        if (problem() === undefined) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        database.close();
        lock?.[Symbol.dispose]();
      }
    },
  });
  return {
    ...journal,
    path: database.path,
    checkLater: () => {
      void checkLater(database, clock, closing.signal).then((damage) => {
        if (damage !== undefined) guard.fail(damage);
      });
    },
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
    for (const _ of checkRows(database)) {
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
  /** Cleans texts that are kept for reading (durability §13): see `scrubber`. */
  readonly scrub?: Scrub | undefined;
  /** Has the journal prove its records (record §1). Absent: it does not. */
  readonly record?: RecordOptions;
  /** Ends the wait for another process while the journal is opened. */
  readonly signal?: AbortSignal;
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
