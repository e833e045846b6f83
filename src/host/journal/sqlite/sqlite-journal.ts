import type { KeyValues } from '../../../extension/index.js';
import { type Clock, type SluiceError, systemClock } from '../../../kernel/index.js';
import { withoutSecrets } from '../../logging/without-secrets.js';
import type { SqliteDatabase } from '../../sqlite/open-sqlite.js';
import type { Store } from '../../transcript/store.js';
import { GroupCommit } from '../commit/group-commit.js';
import { checkLater } from '../damage/check-later.js';
import { numberOf } from '../file/journal-file.js';
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
} from '../journal.js';
import { type JournalChanges, journalChanges } from '../journal-changes.js';
import { JournalGuard } from './journal-guard.js';
import type { JournalOptions, SqliteJournal } from './journal-options.js';
import { RetentionSweep } from './retention-sweep.js';
import { sqliteKeyValues } from './sqlite-key-values.js';
import { SqliteReader } from './sqlite-reader.js';
import { sqliteRows } from './sqlite-rows.js';
import { sqliteStore } from './sqlite-store.js';
import { WaitingDispatches } from './waiting-dispatches.js';

/** The journal in an open file. `openJournal` makes it. */
export class FileJournal extends SqliteReader implements SqliteJournal {
  readonly path: string;
  readonly outlivesHost = true;
  readonly store: Store;
  readonly #keyValues: KeyValues;
  readonly #database: SqliteDatabase;
  readonly #lock: Disposable | undefined;
  readonly #clock: Clock;
  readonly #commits: GroupCommit;
  readonly #guard: JournalGuard;
  readonly #changes: JournalChanges;
  readonly #dispatches: WaitingDispatches;
  readonly #sweep: RetentionSweep;
  #dataVersion: number;
  #closed: Promise<void> | undefined;
  readonly #closing = new AbortController();
  readonly #counted = { accepted: 0, duplicates: 0 };

  constructor(database: SqliteDatabase, lock: Disposable | undefined, options: JournalOptions) {
    super(database);
    this.path = database.path;
    this.#database = database;
    this.#lock = lock;
    const { clock = systemClock, secrets = [] } = options;
    this.#clock = clock;
    const clean = withoutSecrets(secrets);
    this.#changes = journalChanges(sqliteRows(database, clean), clock);
    const carry = () => this.#commits.carry();
    this.#dispatches = new WaitingDispatches(database, clock, carry, clean);
    this.#guard = new JournalGuard(database);
    this.#commits = new GroupCommit(database, {
      clock,
      passenger: this.#dispatches,
      guard: this.#guard,
      probe: () => this.#guard.probe(),
    });
    this.store = sqliteStore(database, this.#commits, clean);
    this.#sweep = new RetentionSweep(database, this.#commits, clock, options);
    this.#keyValues = sqliteKeyValues(database, {
      now: () => clock.now(),
      write: (work) => {
        this.#sweep.grows(0); // time alone may make a sweep due
        return this.#commits.write(work);
      },
    });
    this.#sweep.start();
    this.#dataVersion = this.#readDataVersion();
  }

  override get keyValues(): KeyValues {
    return this.#keyValues;
  }

  /** Looks at all of the file while it is used. After damage it takes nothing in. */
  checkLater(): void {
    void checkLater(this.#database, this.#clock, this.#closing.signal).then((problem) => {
      if (problem !== undefined) this.#guard.fail(problem);
    });
  }

  async accept(update: NewUpdate, isBegun?: boolean): ReturnType<Journal['accept']> {
    this.#sweep.grows(update.body?.length ?? 0);
    const accepted = await this.#commits.write(() => this.#changes.accept(update, isBegun));
    this.#counted[accepted.status === 'known' ? 'duplicates' : 'accepted']++;
    return accepted;
  }

  begin(eventId: string, joined?: readonly string[]): Promise<number> {
    return this.#commits.write(() => this.#changes.begin(eventId, joined));
  }

  giveBack(eventId: string): Promise<void> {
    return this.#commits.write(() => this.#changes.giveBack(eventId));
  }

  endUpdate(eventId: string, end: UpdateEnd): Promise<void> {
    return this.#commits.write(() => this.#changes.endUpdate(eventId, end));
  }

  prepare(send: NewSend, isSending?: boolean): Promise<void> {
    this.#sweep.grows(send.body.length);
    return this.#commits.write(() => this.#changes.prepare(send, isSending));
  }

  final(send: Parameters<Journal['final']>[0], isSending?: boolean): Promise<void> {
    return this.#commits.write(() => this.#changes.final(send, isSending));
  }

  sending(sendId: string): Promise<void> {
    return this.#commits.write(() => this.#changes.sending(sendId));
  }

  unsent(sendId: string): Promise<void> {
    return this.#commits.write(() => this.#changes.unsent(sendId));
  }

  shown(sendId: string, shown: string): Promise<void> {
    return this.#commits.write(() => this.#changes.shown(sendId, shown));
  }

  endSend(sendId: string, end: SendEndRecord): Promise<void> {
    return this.#commits.write(() => this.#changes.endSend(sendId, end));
  }

  dispatched(dispatch: NewDispatch): void {
    this.#dispatches.add(dispatch);
    this.#sweep.grows(dispatch.body.length);
  }

  override async dispatches(filter?: DispatchFilter): Promise<readonly DispatchRecord[]> {
    await this.#commits.settled(); // some may still wait
    return super.dispatches(filter);
  }

  retry(eventId: string): Promise<boolean> {
    return this.#commits.write(() => this.#changes.retry(eventId));
  }

  purge(eventId?: string): Promise<number> {
    return this.#commits.write(() => this.#changes.purge(eventId));
  }

  changedOutside(): boolean {
    const before = this.#dataVersion;
    this.#dataVersion = this.#readDataVersion();
    return this.#dataVersion !== before;
  }

  problem(): SluiceError | undefined {
    return this.#guard.look() ?? this.#commits.failure;
  }

  stats(): JournalStats {
    return { ...this.#counted, ...this.#dispatches.stats() };
  }

  override close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#dispatches.close();
    this.#sweep.close();
    try {
      await this.#commits.close();
      if (this.problem() === undefined) this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.close();
      this.#lock?.[Symbol.dispose]();
    }
  }

  #readDataVersion(): number {
    return numberOf(this.#database, 'PRAGMA data_version');
  }
}
