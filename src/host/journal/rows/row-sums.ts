import { crc32 } from 'node:zlib';
import type { StoredRow } from '../../sqlite/sqlite-texts.js';
import type { SqliteValue } from '../../sqlite/sqlite-values.js';

/** A table of the journal, as far as its sums are concerned. */
export interface SummedTable {
  readonly name: string;
  /** Its columns in their order, without `body` and the two sums; the first is `seq`. */
  readonly columns: readonly string[];
}

/**
 * Makes the sum that is written beside a row so that damage to it is found: CRC-32. It finds each change of up to 32 bits in a row,
 * and all but one in 4,294,967,296 of any others that come by chance. It is no seal: whoever can write to the file can
 * write a sum that fits. The name of the table and the number of the row are in it, so a good row in a wrong place is
 * found, too. The body has a sum of its own, so that a change of state need not read it.
 */
export interface RowSums {
  readonly body_sum: number | null;
  readonly sum: number;
}

/** The sum of a body; `null` where there is none. */
export function bodySum(body: SqliteValue): number | null {
  return body === null ? null : crc32(String(body));
}

/** The sum of a row's other columns, with that of its body. */
export function headSum(
  table: SummedTable,
  row: Readonly<Record<string, SqliteValue | Uint8Array | undefined>>,
): number {
  const values = table.columns.map((column) => row[column] ?? null);
  return crc32(JSON.stringify([table.name, row['body_sum'] ?? null, ...values]));
}

/** Says what is wrong with a row, or `undefined` if it is as it was written. A row without `body` is judged without it. */
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
