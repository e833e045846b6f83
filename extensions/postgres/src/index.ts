import pg from 'pg';
import type { PostgresConnections, PostgresQuery, PostgresValue } from 'sluice/host';

/** The options of connections. */
export interface ConnectOptions {
  /**
   * Milliseconds that a connection or a statement may take, by default 10 000. A connection that is late is given up, and one that
   * cannot be made after 10 000 at the latest.
   */
  readonly timeoutMs?: number;
  /** The connections at most: one of them writes, the others read. By default 5, at least 2. */
  readonly maxConnections?: number;
}

/**
 * A commit is on the disk when it resolves, also if the database says otherwise by default. It comes with the statement that
 * begins, so that it costs no round trip.
 */
const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit') = 'off'`;

const int8 = 20;

/** An `int8` is a number: a journal counts no further than a number is exact. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === int8 ? Number : pg.types.getTypeParser(oid, format)),
};

/**
 * Opens connections to a PostgreSQL, for `openPostgresJournal`. They are made when they are needed, and made anew after they were
 * lost. A pooler in transaction mode may stand between: no statement is prepared, and nothing is set for a session.
 *
 * @param url `postgres://USER:PASSWORD@HOST:PORT/DATABASE`; `?host=/run/postgresql` names a socket, `?sslmode=verify-full` asks
 *   for TLS.
 * @example
 * import { openPostgresJournal } from 'sluice/host';
 * const journal = await openPostgresJournal(connect(process.env.DATABASE_URL));
 */
export function connect(url: string, options: ConnectOptions = {}): PostgresConnections {
  const { timeoutMs = 10_000, maxConnections = 5 } = options;
  const { host, port, database, user } = new pg.Client(url);
  const poolOf = (most: number): pg.Pool => {
    const pool = new pg.Pool({
      ...{ connectionString: url, max: most, types, keepAlive: true, application_name: 'sluice' },
      ...{ connectionTimeoutMillis: Math.min(timeoutMs, silentMs), query_timeout: timeoutMs },
    });
    pool.on('error', () => undefined); // a connection that nobody used was lost: the next call makes another
    return pool;
  };
  const writer = poolOf(1); // no reader keeps it waiting
  const readers = poolOf(Math.max(1, maxConnections - 1));
  const listeners: Disposable[] = [];
  return {
    address: `postgres://${user}@${host}:${port}/${database}`,
    query: queryOf(readers),
    transaction: async (work) => {
      const client = await writer.connect();
      let lost: Error | undefined;
      const onLost = (error: Error): void => {
        lost = error; // the statement under way, or the next one, rejects
      };
      client.on('error', onLost);
      const answered = <T>(statement: Promise<T>): Promise<T> =>
        statement.catch((error: Error) => {
          if (!(error instanceof pg.DatabaseError)) onLost(error);
          throw error;
        });
      const query = queryOf(client);
      try {
        await answered(client.query(begin));
        const result = await work((sql, values) => answered(query(sql, values)));
        const { command } = await answered(client.query('COMMIT'));
        if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
        return result;
      } catch (error) {
        if (lost === undefined) await client.query('ROLLBACK').catch(onLost);
        throw error;
      } finally {
        client.off('error', onLost);
        client.release(lost);
      }
    },
    listen: (channel, heard) => {
      listeners.push(listener({ url, timeoutMs }, channel, heard));
    },
    close: async () => {
      for (const one of listeners) one[Symbol.dispose]();
      await Promise.all([writer.end(), readers.end()]);
    },
  };
}

/** Milliseconds until a connection that was lost is made anew. A network that is cut off shows after twice the first time. */
const listenAgainMs = 1_000;
const silentMs = 10_000;

/**
 * Listens on a connection of its own. A pooler would give that connection to others: it shows by the number of the process that
 * serves the connection, and nothing is listened to.
 */
function listener(
  { url, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
  channel: string,
  heard: (told?: string) => void,
): Disposable {
  let isOver = false;
  let client: pg.Client | undefined;
  const begin = async (): Promise<void> => {
    if (isOver) return;
    const own = new pg.Client({
      ...{ connectionString: url, application_name: 'sluice' },
      ...{ connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: silentMs },
    });
    client = own;
    const again = (): void => {
      if (client !== own) return;
      client = undefined;
      void own.end().catch(() => undefined);
      beginLater();
    };
    own.on('error', again).on('end', again);
    own.on('notification', ({ payload }) => heard(payload));
    try {
      await own.connect();
      const { rows } = await own.query('SELECT pg_backend_pid() AS pid');
      isOver ||= rows[0]?.pid !== Reflect.get(own, 'processID'); // its types do not name it
      if (isOver) return void own.end();
      await own.query(`LISTEN ${own.escapeIdentifier(channel)}`);
      heard();
    } catch {
      again();
    }
  };
  const beginLater = (): void =>
    void setTimeout(() => void begin().catch(beginLater), listenAgainMs).unref();
  void begin().catch(beginLater); // a file that the address names could not be read
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      void client?.end().catch(() => undefined);
    },
  };
}

function queryOf(client: Pick<pg.Pool, 'query'>): PostgresQuery {
  return async (sql, values = []) => {
    const { rows } = await client.query<Record<string, PostgresValue>>(sql, values.map(storable));
    return rows;
  };
}

/** PostgreSQL keeps no text with a null character. */
function storable(value: PostgresValue | readonly PostgresValue[]): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '\ufffd');
  return Array.isArray(value) ? value.map(storable) : value;
}
