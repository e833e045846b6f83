import type { PostgresQuery } from './connections.js';

type Values = NonNullable<Parameters<PostgresQuery>[1]>;

/**
 * The writes at the end of a transaction, as one statement: each is a part of its `WITH`, so that all of them cost one round trip.
 * None sees what another has written, and no two write the same row.
 */
export class JoinedWrites {
  readonly #parts: string[] = [];
  readonly #values: Values[number][] = [];

  /** Adds a write. @param name for parts that come after it and read what it returns. */
  add(sql: string, values: Values, name = `part_${this.#parts.length}`): void {
    const before = this.#values.length;
    const numbered = sql.replaceAll(/\$(\d+)/g, (_, at) => `$${before + Number(at)}`);
    this.#parts.push(`${name} AS (${numbered})`);
    this.#values.push(...values);
  }

  /** Runs all of them, if there are any. */
  async run(query: PostgresQuery): Promise<void> {
    if (this.#parts.length > 0)
      await query(`WITH ${this.#parts.join(',\n')} SELECT 1`, this.#values);
  }
}
