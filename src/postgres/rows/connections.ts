/** A value of a column, or one that a statement is given. */
export type PostgresValue = string | number | boolean | null;

/** A row by the names of its columns. An `int8` is a number. */
export type PostgresRow = Readonly<Record<string, PostgresValue | undefined>>;

/** Runs one statement. `$1` stands for the first value; a list is an array of PostgreSQL. */
export type PostgresQuery = (
  sql: string,
  values?: readonly (PostgresValue | readonly PostgresValue[])[],
) => Promise<readonly PostgresRow[]>;

/** Connections to one PostgreSQL, as the package `sluice-postgres` opens them. Each call rejects with the error of the driver. */
export interface PostgresConnections {
  /** Its address without a password, for messages. */
  readonly address: string;
  /** Runs a statement by itself. */
  readonly query: PostgresQuery;
  /** Runs statements in one transaction of one connection. It is rolled back if `work` rejects. */
  transaction<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T>;
  /**
   * Hears what is told on a channel (`NOTIFY`), on a connection of its own until all are closed. One that was lost is made
   * anew. Absent: hosts hear of nothing, and look.
   *
   * @param heard gets nothing when the connection is there: something may have been told before.
   */
  listen?(channel: string, heard: (told?: string) => void): void;
  close(): Promise<void>;
}
