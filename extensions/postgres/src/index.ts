import type { Writable } from 'node:stream';
import pg from 'pg';
import type { PostgresConnections, PostgresQuery, PostgresValue } from 'sluice/host';

/** The options of connections. */
interface ConnectOptions {
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
 * lost. A pooler in transaction mode may stand between: then no statement is prepared, and nothing is set for a session.
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
  const statements = new Statements();
  const poolOf = (most: number): pg.Pool => {
    const pool = new pg.Pool({
      ...{ connectionString: url, max: most, types, keepAlive: true, application_name: 'sluice' },
      ...{ connectionTimeoutMillis: Math.min(timeoutMs, silentMs), query_timeout: timeoutMs },
      ...{ pipeline: true, onConnect: (client) => statements.connected(client) },
    });
    pool.on('error', () => undefined); // a connection that nobody used was lost: the next call makes another
    return pool;
  };
  const writer = poolOf(1); // no reader keeps it waiting
  const readers = poolOf(Math.max(1, maxConnections - 1));
  const listeners: Disposable[] = [];
  return {
    address: `postgres://${user}@${host}:${port}/${database}`,
    query: statements.queryOf(readers),
    transaction: async (work) => {
      const client = await writer.connect();
      let lost: Error | undefined;
      const onLost = (error: Error): void => {
        lost = error; // the statement under way, or the next one, rejects
      };
      client.on('error', onLost);
      const answered = <T>(statement: Promise<T>): Promise<T> =>
        statement.catch((error: Error) => {
          if (!(error instanceof pg.DatabaseError) || isStale(error)) onLost(error);
          throw error;
        });
      const query = statements.queryOf(client);
      try {
        together(client);
        const begun = answered(client.query(begin));
        let refused = false;
        begun.catch(() => {
          refused = true; // nothing more is sent without a transaction
        });
        const result = await work(async (sql, values) =>
          answered(refused ? begun.then(() => []) : query(sql, values)),
        );
        await begun;
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
      isOver ||= !(await isServedAlone(own));
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

/** Texts of statements that a server keeps for a connection, at most. */
const mostPrepared = 200;

/**
 * The statements of some connections. A server parses and plans each of them once for a connection. Behind a pooler, none is kept: the
 * next one may go to another server.
 */
class Statements {
  readonly #names = new Map<string, string>();
  #areKept: boolean | undefined;

  /** A plan that is kept is made while the tables are small: it is to be that of large ones. */
  async connected(client: pg.ClientBase): Promise<void> {
    const isDirect = await isServedAlone(client);
    this.#areKept = isDirect && this.#areKept !== false;
    if (isDirect) await client.query('SET enable_seqscan = off; SET jit = off');
  }

  queryOf(client: Pick<pg.Pool, 'query'>): PostgresQuery {
    return async (text, values = []) => {
      const name = this.#areKept === true && this.#nameOf(text);
      const { rows } = await client.query<Record<string, PostgresValue>>({
        ...{ text, values: values.map(storable) },
        ...(name && { name }),
      });
      return rows;
    };
  }

  #nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size === mostPrepared) return known;
    const name = `sluice_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

/** Returns whether a connection has a plan that the server does not: the next connection makes it anew. */
const isStale = ({ code = '' }: pg.DatabaseError): boolean => ['0A000', '26000'].includes(code);

/** Returns whether a connection has one process of the server for itself, and no pooler stands between. */
async function isServedAlone(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid === Reflect.get(client, 'processID'); // its types do not name it
}

/** Sends what is asked for in this turn of the event loop with one write to the socket. */
function together(client: pg.ClientBase): void {
  const { stream } = Reflect.get(client, 'connection') as { stream: Writable }; // its types do not name it
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** PostgreSQL keeps no text with a null character. */
function storable(value: PostgresValue | readonly PostgresValue[]): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '\ufffd');
  return Array.isArray(value) ? value.map(storable) : value;
}
