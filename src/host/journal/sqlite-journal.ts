import { type Clock, SluiceError, systemClock } from '../../kernel/index.js';
import type { SqliteDatabase } from '../sqlite/open-sqlite.js';
import type { Store } from '../store.js';
import { GroupCommit } from './group-commit.js';
import type {
  DispatchFilter,
  DispatchRecord,
  Journal,
  JournalStats,
  NewDispatch,
  NewSend,
  NewUpdate,
  SendEndRecord,
  UpdateEnd,
  UpdateState,
} from './journal.js';
import { numberOf, openJournalFile } from './journal-file.js';
import { lockJournal } from './journal-lock.js';
import { journalStatements } from './journal-statements.js';
import { dropOld, type Retention, usualKeepBytes } from './retention.js';
import { SqliteReader } from './sqlite-reader.js';
import { sqliteStore } from './sqlite-store.js';
import { WaitingDispatches } from './waiting-dispatches.js';

/** How a journal is opened. */
export interface JournalOptions extends Retention {
  readonly clock?: Clock;
  /** The most pages of 4,096 bytes that the file may have; as many as the disk takes where unsaid. */
  readonly maxPages?: number;
}

/** A journal in a file, and the sessions beside it. */
export interface SqliteJournal extends Journal {
  readonly path: string;
  /** Sessions and transcripts, in the same file. */
  readonly store: Store;
}

/** Milliseconds between two looks at what is too old, at most. */
const dropEveryMs = 600_000;

/** What part of `keepBytes` may be written between two looks. */
const growth = 1 / 8;

/**
 * Opens the journal in a file, or makes one. Its writes are on the disk when they resolve: a write-ahead log, synced with
 * each transaction; writes of one turn of the event loop share a transaction. While the disk syncs, the process waits.
 *
 * @throws SluiceError (as a rejection) `journal-in-use`, `not-a-journal`, or what `openSqlite` throws.
 * @example
 * const journal = await openJournal('./sluice.db');
 * const host = createHost({ agents, channels, journal, store: journal.store });
 */
export async function openJournal(
  path: string,
  options: JournalOptions = {},
): Promise<SqliteJournal> {
  const lock = path === ':memory:' ? undefined : lockJournal(path);
  try {
    const { maxPages } = options;
    const database = openJournalFile(path, maxPages === undefined ? {} : { maxPages });
    return new FileJournal(database, lock, options);
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw error;
  }
}

class FileJournal extends SqliteReader implements SqliteJournal {
  readonly path: string;
  readonly store: Store;
  readonly #database: SqliteDatabase;
  readonly #lock: Disposable | undefined;
  readonly #clock: Clock;
  readonly #retention: Retention;
  readonly #commits: GroupCommit;
  readonly #sql: ReturnType<typeof journalStatements>;
  readonly #dispatches: WaitingDispatches;
  #droppedOldAtMs: number;
  /** Characters of the bodies that were written since. */
  #grown = 0;
  #dataVersion: number;
  readonly #counted = { accepted: 0, duplicates: 0 };

  constructor(database: SqliteDatabase, lock: Disposable | undefined, options: JournalOptions) {
    super(database);
    this.path = database.path;
    this.#database = database;
    this.#lock = lock;
    this.#clock = options.clock ?? systemClock;
    this.#retention = options;
    this.#sql = journalStatements(database);
    this.#dispatches = new WaitingDispatches(database, this.#clock, () => this.#commits.flush());
    this.#commits = new GroupCommit(database, this.#dispatches);
    this.store = sqliteStore(database, this.#commits);
    this.#droppedOldAtMs = this.#clock.monotonicMs();
    dropOld(database, options, this.#clock.now());
    this.#dataVersion = this.#readDataVersion();
  }

  async accept(update: NewUpdate): ReturnType<Journal['accept']> {
    const { eventId, channel, accountId, updateId, receivedAtMs, body } = update;
    this.#dropOld(body?.length ?? 0);
    const known = await this.#commits.write(() => {
      const row = this.#sql.updateState.get(eventId);
      if (row !== undefined) return row;
      const values = [eventId, channel, accountId, updateId ?? null, receivedAtMs, body ?? null];
      this.#sql.accept.run(...values, this.#clock.now());
      return undefined;
    });
    if (known === undefined) {
      this.#counted.accepted++;
      return { status: 'accepted' };
    }
    this.#counted.duplicates++;
    const state = known['state'] as UpdateState; // the table's own check
    return { status: 'known', state, attempts: Number(known['attempts']) };
  }

  begin(eventId: string): Promise<number> {
    return this.#commits.write(() => {
      const [row] = this.#sql.begin.all(eventId);
      if (row === undefined) throw this.#misuse('update', eventId, 'begun');
      return Number(row['attempts']);
    });
  }

  endUpdate(eventId: string, { isDead, outcome, reason }: UpdateEnd): Promise<void> {
    return this.#commits.write(() => {
      const values = [isDead ? 'dead' : 'ended', this.#clock.now(), outcome, reason ?? null];
      const { changes } = this.#sql.endUpdate.run(...values, isDead ? 1 : 0, eventId);
      if (changes === 0) throw this.#misuse('update', eventId, 'ended');
    });
  }

  prepare(send: NewSend): Promise<void> {
    const { sendId, correlationId, kind, fingerprint, channel, accountId, body } = send;
    this.#dropOld(body.length);
    return this.#commits.write(() => {
      const values = [sendId, correlationId ?? null, kind, fingerprint];
      const place = [channel ?? null, accountId ?? null, body, this.#clock.now()];
      const { changes } = this.#sql.prepare.run(...values, ...place);
      if (changes === 0) throw this.#misuse('send', sendId, 'prepared');
    });
  }

  final(send: Parameters<Journal['final']>[0]): Promise<void> {
    const { sendId, kind, fingerprint, channel, accountId, body } = send;
    return this.#commits.write(() => {
      const values = [kind, fingerprint, channel ?? null, accountId ?? null, body, sendId];
      if (this.#sql.final.run(...values).changes === 0)
        throw this.#misuse('send', sendId, 'made final');
    });
  }

  sending(sendId: string): Promise<void> {
    return this.#commits.write(() => {
      if (this.#sql.sending.run(sendId).changes === 0) throw this.#misuse('send', sendId, 'sent');
    });
  }

  unsent(sendId: string): Promise<void> {
    return this.#commits.write(() => {
      if (this.#sql.unsent.run(sendId).changes === 0)
        throw this.#misuse('send', sendId, 'given back');
    });
  }

  endSend(sendId: string, end: SendEndRecord): Promise<void> {
    const { state, providerMessageId, cause, reason } = end;
    return this.#commits.write(() => {
      const why = [providerMessageId ?? null, cause ?? null, reason ?? null];
      const { changes } = this.#sql.endSend.run(state, this.#clock.now(), ...why, sendId);
      if (changes === 0) throw this.#misuse('send', sendId, state);
    });
  }

  dispatched(dispatch: NewDispatch): void {
    this.#dispatches.add(dispatch);
    this.#dropOld(dispatch.body.length);
  }

  override async dispatches(filter?: DispatchFilter): Promise<readonly DispatchRecord[]> {
    this.#commits.flush(); // what still waits
    return super.dispatches(filter);
  }

  retry(eventId: string): Promise<boolean> {
    return this.#commits.write(() => this.#sql.retry.run(eventId).changes > 0);
  }

  purge(eventId?: string): Promise<number> {
    return this.#commits.write(() =>
      eventId === undefined
        ? this.#sql.purgeAll.run().changes
        : this.#sql.purge.run(eventId).changes,
    );
  }

  changedOutside(): boolean {
    const before = this.#dataVersion;
    this.#dataVersion = this.#readDataVersion();
    return this.#dataVersion !== before;
  }

  stats(): JournalStats {
    return { ...this.#counted, ...this.#dispatches.stats() };
  }

  override async close(): Promise<void> {
    if (!this.#database.isOpen) return;
    try {
      this.#commits.flush();
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.close();
      this.#lock?.[Symbol.dispose]();
    }
  }

  /** Now and then, before something is written. It is no failure of that where it cannot be done: it comes again. */
  #dropOld(characters: number): void {
    const now = this.#clock.monotonicMs();
    const { keepBytes = usualKeepBytes } = this.#retention;
    this.#grown += characters;
    if (now - this.#droppedOldAtMs < dropEveryMs && this.#grown < keepBytes * growth) return;
    this.#droppedOldAtMs = now;
    this.#grown = 0;
    try {
      dropOld(this.#database, this.#retention, this.#clock.now());
    } catch {
      // a full disk is told by the writes that it stops
    }
  }

  #readDataVersion(): number {
    return numberOf(this.#database, 'PRAGMA data_version');
  }

  #misuse(what: 'update' | 'send', id: string, wanted: string): SluiceError {
    const find = what === 'update' ? this.#sql.updateState : this.#sql.sendState;
    const state = String(find.get(id)?.['state'] ?? 'not known');
    return new SluiceError('journal-state', { what, id, wanted, state });
  }
}
