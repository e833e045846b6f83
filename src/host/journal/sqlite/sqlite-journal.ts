import type { KeyValues } from '../../../extension/index.js';
import { type Clock, type SluiceError, systemClock } from '../../../kernel/index.js';
import { hostError } from '../../errors.js';
import { withoutSecrets } from '../../logging/without-secrets.js';
import type { SqliteDatabase, SqliteRow } from '../../sqlite/open-sqlite.js';
import type { Store } from '../../transcript/store.js';
import { GroupCommit } from '../commit/group-commit.js';
import { checkLater } from '../damage/check-later.js';
import { numberOf } from '../file/journal-file.js';
import {
  type DispatchFilter,
  type DispatchRecord,
  type Journal,
  type JournalStats,
  type NewDispatch,
  type NewSend,
  type NewUpdate,
  newSendState,
  newUpdateState,
  openSends,
  openUpdates,
  type SendEndRecord,
  type UpdateEnd,
  type UpdateState,
} from '../journal.js';
import { sendsTable, updatesTable } from '../rows/journal-rows.js';
import { type JournalChanges, journalChanges } from './journal-changes.js';
import { JournalGuard } from './journal-guard.js';
import type { JournalOptions, SqliteJournal } from './journal-options.js';
import { RetentionSweep } from './retention-sweep.js';
import { sqliteKeyValues } from './sqlite-key-values.js';
import { SqliteReader } from './sqlite-reader.js';
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
    this.#changes = journalChanges(database, clean);
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

  async accept(update: NewUpdate, isBegun = false): ReturnType<Journal['accept']> {
    this.#sweep.grows(update.body?.length ?? 0);
    const { updates } = this.#changes;
    const known = await this.#commits.write(() => {
      const row = updates.find('event_id', update.eventId);
      if (row !== undefined) return row;
      const begun = { ...newUpdateState(isBegun), acceptedAtMs: this.#clock.now() };
      updates.add(updatesTable.row({ ...update, ...begun }));
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

  begin(eventId: string, joined: readonly string[] = []): Promise<number> {
    return this.#commits.write(() => {
      this.#changes.join(eventId, joined);
      const next = (was: SqliteRow) => Number(was['attempts']) + 1;
      const was = this.#changes.changeUpdate(eventId, openUpdates, 'begun', (row) => ({
        state: 'handling',
        attempts: next(row),
      }));
      return next(was);
    });
  }

  giveBack(eventId: string): Promise<void> {
    return this.#changeUpdate(eventId, ['handling'], 'given back', (was) => ({
      attempts: Math.max(0, Number(was['attempts']) - 1),
    }));
  }

  endUpdate(eventId: string, { isDead, outcome, reason }: UpdateEnd): Promise<void> {
    return this.#changeUpdate(eventId, openUpdates, 'ended', () => ({
      state: isDead ? 'dead' : 'ended',
      outcome,
      reason,
      endedAtMs: this.#clock.now(),
      ...(!isDead && { body: null }), // people's words are not kept longer than they must be
    }));
  }

  prepare(send: NewSend, isSending = false): Promise<void> {
    this.#sweep.grows(send.body.length);
    const { sends } = this.#changes;
    return this.#write(() => {
      const { sendId: id } = send;
      const known = sends.find('send_id', id)?.['state'];
      if (known !== undefined)
        throw hostError('journal-state', {
          what: 'send',
          id,
          wanted: 'prepared',
          state: String(known),
        });
      const begun = { ...newSendState(isSending), preparedAtMs: this.#clock.now() };
      sends.add(sendsTable.row({ ...send, ...begun }));
    });
  }

  final(send: Parameters<Journal['final']>[0], isSending = false): Promise<void> {
    const { sendId, kind, fingerprint, channel, accountId, body } = send;
    const said = { kind, fingerprint, channel, accountId, body };
    return this.#changeSend(sendId, ['prepared'], 'made final', (was) => ({
      ...said,
      ...newSendState(isSending, Number(was['attempts'])),
    }));
  }

  sending(sendId: string): Promise<void> {
    return this.#changeSend(sendId, openSends, 'sent', (was) => ({
      state: 'sending',
      attempts: Number(was['attempts']) + 1,
    }));
  }

  unsent(sendId: string): Promise<void> {
    return this.#changeSend(sendId, ['sending'], 'given back', () => ({ state: 'prepared' }));
  }

  shown(sendId: string, shown: string): Promise<void> {
    return this.#changeSend(sendId, openSends, 'shown', () => ({ shown }));
  }

  endSend(sendId: string, end: SendEndRecord): Promise<void> {
    const { state, providerMessageId, cause, reason } = end;
    return this.#changeSend(sendId, openSends, state, () => ({
      state,
      providerMessageId,
      cause,
      reason,
      endedAtMs: this.#clock.now(),
    }));
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

  async #write(work: () => unknown): Promise<void> {
    await this.#commits.write(work);
  }

  #changeUpdate(...change: Parameters<JournalChanges['changeUpdate']>): Promise<void> {
    return this.#write(() => this.#changes.changeUpdate(...change));
  }

  #changeSend(...change: Parameters<JournalChanges['changeSend']>): Promise<void> {
    return this.#write(() => this.#changes.changeSend(...change));
  }
}
