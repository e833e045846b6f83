import type {
  Journal,
  JournalReader,
  NewDispatch,
  RecordOptions,
  Store,
  TendedJournal,
} from '@sluice/journal';
import {
  both,
  type DoneRows,
  databaseJournal,
  doneRows,
  Recorder,
  type Scrub,
  Sweep,
  usualKeepForMs,
  WaitingDispatches,
  wholeOwnership,
  withoutSecrets,
  writtenKeyValues,
} from '@sluice/journal/internal';
import { type Clock, systemClock } from 'sluice-kernel';
import { PostgresBatches } from './postgres-batches.js';
import { dayMs, dropDays, makeDays, otherDispatches } from './postgres-days.js';
import { withFailures } from './postgres-failure.js';
import { besideHosts, usualLeaseMs } from './postgres-fence.js';
import { PostgresMember } from './postgres-member.js';
import { postgresRecords, postgresSessions, postgresValues } from './postgres-reader.js';
import { checkPostgresSchema } from './postgres-schema.js';
import { countedChanges, postgresChanges } from './postgres-writes.js';
import { cutLists, isCut, RecordHeads } from './record-heads.js';
import type { PostgresConnections } from './rows/connections.js';
import type { SharedTransaction } from './rows/postgres-rows.js';
import { sharedReadings } from './rows/shared-readings.js';
import { dropExpired } from './rows/working-values.js';

/** The options of a journal in PostgreSQL. */
export interface PostgresJournalOptions {
  readonly clock?: Clock;
  /** Texts that no record may quote, such as the secrets of a config (spec §20.8). */
  readonly secrets?: readonly string[];
  /** Cleans texts that are kept for reading (durability §13): see `scrubber`. */
  readonly scrub?: Scrub | undefined;
  /** Has the journal prove its records (record §1), as each host that uses it has to. Absent: it does not. */
  readonly record?: RecordOptions | undefined;
  /** Ends the wait for another host while the journal is opened. */
  readonly signal?: AbortSignal;
  /** Milliseconds for which the end of an update or a send is persisted, by default 7 days. */
  readonly keepForMs?: number;
  /** Milliseconds for which a host that is not heard of keeps the journal, by default 5 000. */
  readonly leaseMs?: number;
  /**
   * The partitions that the conversations are divided into, as `sluice journal migrate` has made them: with 1, one host at a time has the
   * journal; with more, hosts share it. Absent: as the database says.
   */
  readonly partitions?: number;
  /** Hosts that share the journal tell each other of their work (`NOTIFY`), by default. If not, each looks twice a second. */
  readonly listen?: boolean;
  /** The host calls `announce` when all of it is there. Before that it takes no partition of a journal that hosts share. */
  readonly announces?: boolean;
}

/** A journal in PostgreSQL, and the sessions beside it. */
export interface PostgresJournal extends Journal {
  readonly store: Store;
  /**
   * Tells the hosts that share the journal of this one: each part of its set-up, with a version or a digest. It is asked again with
   * each renewal of the lease. `sluice doctor` shows the differences. A secret has no place in it.
   */
  announce(about: () => Readonly<Record<string, string>>): Promise<void>;
}

/**
 * Opens the journal in a PostgreSQL, whose tables `sluice journal migrate` has made. With one partition, one host at a time has it:
 * another waits for one lease, and takes the journal over if it was not renewed. With more, hosts share it. Writes that come
 * together share a transaction.
 *
 * @param given is closed with the journal, and if it cannot be opened.
 * @throws SluiceError (as a rejection) `journal-in-use`, `not-a-journal` or `database-...`.
 * @example
 * const journal = await openPostgresJournal(connect(process.env.DATABASE_URL));
 * const host = createHost({ agents, channels, journal, store: journal.store });
 */
export async function openPostgresJournal(
  given: PostgresConnections,
  options: PostgresJournalOptions = {},
): Promise<PostgresJournal> {
  const { clock = systemClock, leaseMs = usualLeaseMs } = options;
  const connections = withFailures(given);
  const member = new PostgresMember(connections, clock, leaseMs, options.announces !== true);
  try {
    await checkPostgresSchema(connections);
    await member.join(options.partitions, options.signal);
    await makeDays(connections.query, clock.now()).catch(() => undefined); // as with each sweep
  } catch (error) {
    await connections.close().catch(() => undefined);
    throw error;
  }
  const { journal, recorder } = journalOf(connections, member, { ...options, clock, leaseMs });
  try {
    await recorder?.start(journal.keyValues);
  } catch (error) {
    await journal.close();
    throw error;
  }
  return journal;
}

function journalOf(
  connections: PostgresConnections,
  member: PostgresMember,
  options: PostgresJournalOptions & Required<Pick<PostgresJournalOptions, 'clock' | 'leaseMs'>>,
) {
  const { clock, leaseMs, secrets = [], scrub, keepForMs, listen = true } = options;
  const clean = withoutSecrets(secrets);
  const taken: NewDispatch[] = [];
  const record = options.record && postgresRecord(connections, member, options.record, clock);
  const { heads, recorder } = record ?? {};
  const waiting = new WaitingDispatches(
    (dispatches) => void taken.push(...(heads?.chain.link(dispatches) ?? dispatches)),
    clock,
    () => batches.carry(),
    both(clean, scrub),
    heads?.chain,
  );
  const batches: PostgresBatches = new PostgresBatches(connections, {
    ...{ clock, clean, scrub, ownership: member, unknownForMs: leaseMs },
    fence: (query) => member.fence(query),
    isLate: () => member.problem() !== undefined,
    passengers: { waiting, taken: () => taken.splice(0), heads },
  });
  member.renewBy(batches);
  member.lookForWork(listen);
  const sweep = sweepPostgres(connections, batches, { clock, keepForMs, recorder });
  const reading = { ...connections, query: sharedReadings(connections.query) };
  const journal = databaseJournal({
    ...{ ownership: member, clean, scrub, commits: batches, waiting },
    changes: countedChanges(postgresChanges(batches), member.own),
    records: postgresRecords(reading),
    values: postgresValues(reading, () => clock.now()),
    sessions: postgresSessions(reading),
    version: () => member.touched,
    problem: () => member.problem() ?? batches.failure,
    close: async () => {
      waiting.close();
      sweep.close();
      await batches.settled();
      await recorder?.close();
      await batches.close();
      await member.leave();
      await connections.close();
    },
  });
  const whole: PostgresJournal = {
    ...{ ...journal, lost: member.lost },
    announce: (about) => member.announce(about),
  };
  return { journal: whole, recorder };
}

/** The chains of a journal, and what signs them. */
function postgresRecord(
  { query }: PostgresConnections,
  member: PostgresMember,
  options: RecordOptions,
  clock: Clock,
) {
  const heads = new RecordHeads(member, () => recorder.grows());
  const lastSeq = async (): Promise<number> => {
    const [row] = await query(
      'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS seq FROM sluice_dispatch_numbers',
    );
    return Number(row?.['seq']);
  };
  const recorder = new Recorder({ ...options, chain: heads.chain, clock, lastSeq });
  return { heads, recorder };
}

/**
 * Opens the journal in a PostgreSQL to read it. A host may use it meanwhile.
 *
 * @throws SluiceError (as a rejection) `not-a-journal` or `database-...`.
 */
export async function readPostgresJournal(
  given: PostgresConnections,
): Promise<JournalReader & AsyncDisposable> {
  const connections = await checked(given);
  const close = () => connections.close();
  const keyValues = postgresValues(connections, () => systemClock.now());
  return { ...postgresRecords(connections), keyValues, close, [Symbol.asyncDispose]: close };
}

/**
 * Opens the journal in a PostgreSQL to look after its dead letters and its values, as `tendJournal` does with a file.
 *
 * @throws SluiceError (as a rejection) `not-a-journal` or `database-...`.
 */
export async function tendPostgresJournal(given: PostgresConnections): Promise<TendedJournal> {
  const connections = await checked(given);
  const clock = systemClock;
  const options = {
    clock,
    fence: besideHosts,
    ownership: wholeOwnership(),
    unknownForMs: usualLeaseMs,
  };
  const batches = new PostgresBatches(connections, options);
  const { retry, purge } = postgresChanges(batches);
  const keyValues = writtenKeyValues(
    postgresValues(connections, () => clock.now()),
    batches,
  );
  const close = async (): Promise<void> => {
    await batches.close();
    await connections.close();
  };
  const records = postgresRecords(connections);
  return { ...records, keyValues, retry, purge, close, [Symbol.asyncDispose]: close };
}

async function checked(given: PostgresConnections): Promise<PostgresConnections> {
  const connections = withFailures(given);
  try {
    await checkPostgresSchema(connections);
    return connections;
  } catch (error) {
    await connections.close().catch(() => undefined);
    throw error;
  }
}

interface SweepOptions {
  readonly clock: Clock;
  readonly keepForMs: number | undefined;
  readonly recorder: Recorder | undefined;
}

/** Rows that one transaction looks at, and drops, at most. */
const rowsAtOnce = 500;

const [dispatches, ...others] = doneRows('sluice_');

/**
 * Drops the rows of a journal that ended long ago, each ten minutes: the dispatches by days, which costs the same however many they
 * are, and all others a few at a time between its writes. If the days cannot be dropped, or a day is too long to keep, dispatches go
 * a few at a time, too.
 */
function sweepPostgres(
  { query }: PostgresConnections,
  batches: PostgresBatches,
  { clock, keepForMs = usualKeepForMs, recorder }: SweepOptions,
): Sweep {
  /** Looks at the rows after one, in their order. @returns the last of them, if there may be old rows behind it. */
  const dropAfter = async (
    seq: number,
    { name, madeAt, endedAt, isDone }: DoneRows,
    beforeMs: number,
    more: readonly (readonly number[])[] = [],
  ): Promise<number | undefined> => {
    const [seen] = await batches.write(({ query }) =>
      query(
        `WITH seen AS (SELECT seq, ${madeAt} AS at FROM ${name} WHERE seq > $2 ORDER BY seq LIMIT ${rowsAtOnce}),
          gone AS (DELETE FROM ${name} AS kept WHERE kept.seq = ANY(ARRAY(SELECT seq FROM seen))
            AND kept.${endedAt} < $1 AND ${isDone})
          SELECT max(seq) AS last, min(at) < $1 AS has_old FROM seen`,
        [beforeMs, seq, ...more],
      ),
    );
    return seen?.['has_old'] === true ? Number(seen['last']) : undefined;
  };
  const sweep = new Sweep(clock, async (isClosed) => {
    const nowMs = clock.now();
    const dropAll = async (
      rows: DoneRows,
      beforeMs: number,
      more?: readonly (readonly number[])[],
    ): Promise<void> => {
      for (let seq: number | undefined = 0; seq !== undefined && !isClosed(); )
        seq = await dropAfter(seq, rows, beforeMs, more);
    };
    const cut = recorder && cutLists((await recorder.cut(nowMs - keepForMs)).heads);
    for (const rows of others) await dropAll(rows, nowMs - keepForMs);
    const dropping = ({ query }: SharedTransaction) => dropExpired(query, nowMs, rowsAtOnce);
    while (!isClosed()) if ((await batches.write(dropping, { isAlone: true })) === 0) break;
    await makeDays(query, nowMs).catch(() => undefined); // dispatches of such a day stand in the table of all others
    const isByDay = await dropDays(query, nowMs - keepForMs, cut).then(
      () => keepForMs >= dayMs,
      () => false, // somebody reads them for long, or this user may not change tables
    );
    const name = isByDay ? otherDispatches.name : dispatches.name;
    const isDone = cut === undefined ? dispatches.isDone : isCut(3);
    await dropAll({ ...dispatches, name, isDone }, nowMs - keepForMs, cut);
  });
  sweep.start();
  return sweep;
}
