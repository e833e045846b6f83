import { isUtf8 } from 'node:buffer';
import type { SluiceError } from 'sluice-kernel';
import { journalError } from '../errors.js';

/** A value that can be bound and read back unchanged. Its owner puts any other value into a JSON text. */
export type SqliteValue = string | number | null;

/**
 * Checks the values of one call before the driver sees them. The driver ends the process on some kinds of values
 * (a boolean, say), and alters others without a word: so the count must be right, and each value must be one that comes
 * back as it was bound.
 *
 * @throws SluiceError `bad-value`.
 */
export function checkValues(sql: string, wanted: number, values: readonly unknown[]): void {
  if (values.length !== wanted)
    throw badValue(sql, `it takes ${wanted} values, and ${values.length} were given`);
  values.forEach((value, at) => {
    const problem = problemOf(value);
    if (problem !== undefined) throw badValue(sql, `value ${at + 1} is ${problem}`);
  });
}

/** Counts the question marks of a statement that stand for a value: not those in quotes and comments. */
export function placeholdersOf(sql: string): number {
  const parts = sql.match(
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?\d*|[:@$]\w+/g,
  );
  const marks = (parts ?? []).filter((part) => /^[?:@$]/.test(part));
  const named = marks.find((mark) => mark !== '?');
  if (named !== undefined) throw badValue(sql, `"${named}" is no plain question mark`);
  return marks.length;
}

function badValue(sql: string, problem: string): SluiceError {
  return journalError('bad-value', { sql: shortened(sql), problem });
}

/** Takes quotes and comments out of a statement. */
export function withoutQuotes(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
}

/** Cuts a statement to its beginning, for the text of an error. */
export function shortened(sql: string): string {
  const line = sql.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

function problemOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return problemOfText(value);
    case 'number':
      if (!Number.isFinite(value)) return `the number ${value}`;
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? 'an integer that is too large to be exact'
        : undefined;
    case 'object':
      return value === null ? undefined : 'an object';
    case 'undefined':
      return 'undefined';
    case 'bigint':
    case 'boolean':
    case 'symbol':
    case 'function':
      return `a ${typeof value}`;
  }
}

/** Says why a text would not come back as it was bound; `undefined` if it would. */
export function problemOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'a text with a zero character: it would be cut there';
  return /\p{Surrogate}/u.test(text) ? 'a text with half a surrogate pair' : undefined;
}

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
