import { isUtf8 } from 'node:buffer';
import type { SqliteValue } from './sqlite-values.js';

/**
 * A row as it lies in the file: a text that is not UTF-8 is given as its bytes. This module writes no such text,
 * so the bytes are a sign of damage.
 */
export type StoredRow = Readonly<Record<string, SqliteValue | Uint8Array>>;

/**
 * Makes a `SELECT` that gives each text as its bytes. The driver ends the process if it reads a text that is not UTF-8, and
 * nothing can catch that.
 *
 * @param columns the names of the statement's columns.
 */
export function selectBytes(sql: string, columns: readonly string[]): string {
  const casts = columns.map((column) => {
    const name = `"${column.replaceAll('"', '""')}"`;
    return `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END AS ${name}`;
  });
  return `SELECT ${casts.join(', ')} FROM (\n${sql.replace(/;\s*$/, '')}\n)`; // a comment may end the statement
}

/** Turns a row of such a `SELECT` into one with texts. */
export function storedRow(row: Readonly<Record<string, unknown>>): StoredRow {
  const stored: Record<string, SqliteValue | Uint8Array> = {};
  for (const [column, value] of Object.entries(row))
    stored[column] =
      value instanceof ArrayBuffer || value instanceof Uint8Array
        ? textOf(value)
        : (value as SqliteValue); // of the types that SQLite has, a number and null are left
  return stored;
}

/** Finds the first column of a row whose text is not UTF-8. */
export function brokenColumn(row: StoredRow): string | undefined {
  return Object.entries(row).find(([, value]) => value instanceof Uint8Array)?.[0];
}

function textOf(value: ArrayBuffer | Uint8Array): string | Uint8Array {
  const bytes = Buffer.from(value as ArrayBuffer);
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes;
}
