import { hostError } from '../errors.js';

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
    throw hostError('bad-value', {
      sql: shortened(sql),
      problem: `it takes ${wanted} values, and ${values.length} were given`,
    });
  values.forEach((value, at) => {
    const problem = problemOf(value);
    if (problem !== undefined)
      throw hostError('bad-value', {
        sql: shortened(sql),
        problem: `value ${at + 1} is ${problem}`,
      });
  });
}

/** Counts the question marks of a statement that stand for a value: not those in quotes and comments. */
export function placeholdersOf(sql: string): number {
  const parts = sql.match(
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?\d*|[:@$]\w+/g,
  );
  const marks = (parts ?? []).filter((part) => /^[?:@$]/.test(part));
  const named = marks.find((mark) => mark !== '?');
  if (named !== undefined)
    throw hostError('bad-value', {
      sql: shortened(sql),
      problem: `"${named}" is no plain question mark`,
    });
  return marks.length;
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
