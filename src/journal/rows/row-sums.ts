import { crc32 } from 'node:zlib';
import type { SqliteValue, StoredRow } from '../database/sqlite-values.js';

/** The part of a table of the journal that its sums need. */
export interface SummedTable {
  readonly name: string;
  /** Its columns in their order, without `body` and the two sums; the first is `seq`. */
  readonly columns: readonly string[];
}

/** Values by the names of their columns, without the sums. A column that is absent is null. */
export type RowValues = Readonly<Record<string, SqliteValue | undefined>>;

/**
 * Returns the sum of a body; `null` for no body. The body has a sum of its own, so that a change of state need not read it.
 */
export function bodySum(body: SqliteValue): number | null {
  return body === null ? null : crc32(String(body));
}

/**
 * Returns the sum of a row's other columns, with that of its body: CRC-32. It finds each change of up to 32 bits in a row,
 * and all but one in 4,294,967,296 of any other changes that come by chance. It is no seal: a writer of the file can write a
 * sum that fits. The name of the table and the number of the row are in it, so a good row in a wrong place is found, too.
 */
export function headSum(
  table: SummedTable,
  row: Readonly<Record<string, SqliteValue | Uint8Array | undefined>>,
): number {
  const { slot } = row;
  const isKept = (column: string): boolean => column !== 'slot' || (slot ?? null) !== null; // the sums of a row without a slot leave it out
  const values = table.columns.filter(isKept).map((column) => row[column] ?? null);
  return crc32(JSON.stringify([table.name, row['body_sum'] ?? null, ...values]));
}

/** Names the damage of a row; `undefined` if the row is as it was written. A row without `body` is judged without it. */
export function rowProblem(table: SummedTable, row: StoredRow): string | undefined {
  const broken = Object.keys(row).filter((column) => row[column] instanceof Uint8Array);
  if (broken.length > 0) return `${broken.join(', ')}: a text that is not UTF-8`;
  if (headSum(table, row) !== row['sum'])
    return `its sum does not fit: a column beside its body has changed`;
  const { body } = row;
  if (body !== undefined && bodySum(body as SqliteValue) !== row['body_sum'])
    return 'body: its sum does not fit'; // no bytes, as was seen above
  return undefined;
}
