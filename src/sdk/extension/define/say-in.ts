import { fill } from 'sluice-kernel/internal';
import type { Say, TextRows } from './texts.js';

/**
 * Makes the function that says sentences.
 *
 * @param rows the sentences in English.
 * @param tables other words for them, by their keys behind `prefix`: the first that has one wins.
 */
export function sayIn<const Rows extends TextRows>(
  rows: Rows,
  { tables = [], locale = 'en', prefix = '' }: SayOptions = {},
): Say<Rows> {
  const say = (key: string, values: Readonly<Record<string, string | number>> = {}): string => {
    const other = tables.find((table) => Object.hasOwn(table, prefix + key))?.[prefix + key];
    return fill(other ?? rows[key] ?? key, values);
  };
  return Object.assign(say, { locale });
}

/** The language of `sayIn`, and the tables of an operator. */
interface SayOptions {
  readonly tables?: readonly TextRows[];
  readonly locale?: string;
  readonly prefix?: string;
}
