import { getOrMake } from 'sluice-kernel/internal';
import type { PostgresQuery } from './connections.js';

type Values = NonNullable<Parameters<PostgresQuery>[1]>;
type Rows = Awaited<ReturnType<PostgresQuery>>;

/** Readings that share a statement: their rows come as one answer, for which there is one time. */
const most = 64;

/**
 * Has readings that come in one turn of the event loop share a statement, if they differ in plain values alone. The messages whose
 * writes share a transaction go on together, so as a rule they read together, too.
 *
 * @param query of readings: a failure of the statement is one of each.
 */
export function sharedReadings(query: PostgresQuery): PostgresQuery {
  const groups = new Map<string, { readonly all: Values[]; readonly read: Promise<Rows[]> }>();
  return async (sql, values = []) => {
    const types = values.map((value) => (Array.isArray(value) ? value : typeOf(value)));
    const key = JSON.stringify([sql, types]);
    const { all, read } = getOrMake(groups, key, () => {
      const given: Values[] = [];
      const readAll = async (): Promise<Rows[]> => {
        await new Promise<void>((resolve) => process.nextTick(resolve));
        if (groups.get(key)?.all === given) groups.delete(key);
        if (given.length > 1 && types.some((type) => typeof type === 'string'))
          return together(query, sql, given);
        const rows = await query(sql, given[0]);
        return given.map(() => rows);
      };
      return { all: given, read: readAll() };
    });
    const at = all.push(values) - 1;
    if (all.length === most) groups.delete(key); // the next ones are another group
    return (await read)[at] ?? [];
  };
}

const typeOf = (value: unknown): string =>
  typeof value !== 'number' ? 'text' : Number.isSafeInteger(value) ? 'int8' : 'float8';

/** Reads for each list of values. They have the same arrays. The rows of each keep their order: its reading runs by itself. */
async function together(query: PostgresQuery, sql: string, all: readonly Values[]) {
  const own: string[] = [];
  const given: Values[number][] = [];
  const names = (all[0] ?? []).map((value, at) => {
    if (Array.isArray(value)) return `$${given.push(value)}`;
    const column = all.map((values) => values[at] ?? null) as Values[number]; // none of them is an array
    own.push(`$${given.push(column)}::${typeOf(value)}[]`);
    return `asked.v${own.length}`;
  });
  const columns = own.map((_, at) => `v${at + 1}, `).join('');
  const one = sql.replaceAll(/\$(\d+)/g, (_, at) => names[Number(at) - 1] ?? '');
  const rows = await query(
    `SELECT asking, one.* FROM unnest(${own.join(', ')}) WITH ORDINALITY AS asked (${columns}asking)
      CROSS JOIN LATERAL (${one}) AS one`,
    given,
  );
  const read = all.map((): Rows[number][] => []);
  for (const { asking, ...row } of rows) read[Number(asking) - 1]?.push(row);
  return read;
}
