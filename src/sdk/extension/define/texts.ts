import { fill } from 'sluice-kernel/internal';

/** Sentences for people by their keys, in English. `{name}` stands for a value. */
export type TextRows = Readonly<Record<string, string>>;

/** The names of the values that a sentence has. */
type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The values of a sentence: none for one that has no names. */
type ValuesOf<Text extends string> = [NamesIn<Text>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<Text>, string | number>>];

/** Says the sentence of a key in one language. */
export interface Say<Rows extends TextRows> {
  <K extends keyof Rows & string>(key: K, ...values: ValuesOf<Rows[K]>): string;
  /** The language, for spans of time and numbers: a tag such as `pt-BR`. */
  readonly locale: string;
}

/** A message, as far as the language of its sender goes. */
export interface Spoken {
  readonly sender?: { readonly locale?: string } | undefined;
}

/** Says sentences to the sender of a message, or to nobody in particular. */
export type SayTo<Rows extends TextRows> = (message?: Spoken) => Say<Rows>;

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
