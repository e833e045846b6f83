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
