import type { Say, SayTo, Spoken, TextRows } from '@sluice/sdk/extension';
import { sayIn } from '@sluice/sdk/extension/internal';
import { didYouMean, kernelError } from 'sluice-kernel/internal';
import { hostTexts } from './host-texts.js';

/** Says the sentences of a host in one language. */
export type HostSay = Say<typeof hostTexts>;

/** The words of an operator. */
export interface TextOptions {
  /** The language of those whose channel does not say theirs; English by default. */
  readonly locale?: string | undefined;
  /** By language, the sentences by their keys: those of an extension behind its id, as `budget/used-up`. */
  readonly texts?: Readonly<Record<string, TextRows>> | undefined;
}

/** The sentences in English, for those who read a journal. */
export const inEnglish: HostSay = sayIn(hostTexts);

/** Returns whether a text is the tag of a language, such as `de` or `pt-BR`. */
export function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** The beginning of the key of a command's line in `/help`: also a command of an extension or a plugin may have one. */
const about = 'about-';

/**
 * Finds the faults of sentences: keys that no row has, and names of values that their sentence lacks.
 *
 * @param rowsOf the rows of an extension by its id, and those of the host by `''`; nothing if they are not looked at.
 */
export function textProblems(
  tables: NonNullable<TextOptions['texts']>,
  rowsOf = (owner: string): TextRows | undefined => (owner === '' ? hostTexts : undefined),
) {
  return Object.entries(tables).flatMap(([locale, table]) =>
    Object.entries(table).flatMap(([key, text]) => {
      const start = key.lastIndexOf('/') + 1;
      const rows = rowsOf(key.slice(0, Math.max(0, start - 1)));
      const problem = rows && problemOf(key.slice(start), text, rows);
      return problem === undefined ? [] : { path: [locale, key], problem };
    }),
  );
}

function problemOf(key: string, text: string, rows: TextRows): string | undefined {
  const isOfCommand = rows === hostTexts && key.startsWith(about);
  const english = Object.hasOwn(rows, key) ? rows[key] : undefined;
  if (english === undefined && !isOfCommand)
    return `no sentence has the key "${key}"${didYouMean(key, Object.keys(rows))}`;
  const known = namesIn(english ?? '');
  const strange = namesIn(text).find((name) => !known.includes(name));
  if (strange === undefined) return undefined;
  return `"${key}" has no value ${strange}; it has ${known.join(', ') || 'none'}`;
}

function namesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/\{(\w+)\}/g), ([name]) => name);
}

/** The sentences that a host and its extensions say to people, in the languages of an operator. */
export class Texts {
  readonly #given: NonNullable<TextOptions['texts']>;
  readonly #locale: string;
  readonly #ofExtensions = new Map<string, TextRows>();

  /** @throws SluiceError `bad-option`. */
  constructor({ texts = {}, locale = 'en' }: TextOptions) {
    const strange = [locale, ...Object.keys(texts)].find((tag) => !isLocale(tag));
    const problem =
      strange === undefined ? textProblems(texts)[0]?.problem : `"${strange}" is no language`;
    if (problem !== undefined) throw kernelError('bad-option', { option: 'texts', problem });
    this.#given = texts;
    this.#locale = locale;
  }

  /** Speaks to the sender of a message; without one, in the language of the operator. */
  to(message?: Spoken): HostSay {
    return this.#sayIn(hostTexts, '', message);
  }

  /** Takes the sentences of an extension. */
  readonly textsOf = <Rows extends TextRows>(extensionId: string, rows: Rows): SayTo<Rows> => {
    this.#ofExtensions.set(extensionId, rows);
    return (message) => this.#sayIn(rows, `${extensionId}/`, message);
  };

  /** Names the faults of the sentences of extensions, when all are loaded. */
  problems(): readonly string[] {
    const rowsOf = (owner: string) =>
      owner === '' ? undefined : (this.#ofExtensions.get(owner) ?? {});
    return textProblems(this.#given, rowsOf).map(
      ({ path, problem }) => `texts.${path.join('.')}: ${problem}`,
    );
  }

  /** Describes a command to somebody. */
  describe(
    { name, description }: { readonly name: string; readonly description: string },
    message: Spoken,
  ): string {
    const key = `${about}${name}`;
    // the words of an extension may have braces
    const rows: Readonly<Record<string, '{description}'>> = { [key]: '{description}' };
    return this.#sayIn(rows, '', message)(key, { description });
  }

  /** Returns whether a word is that of a key, in any language: who writes it may have read another one than his own. */
  isWord(key: keyof typeof hostTexts, written = ''): boolean {
    const all = [hostTexts, ...Object.values(this.#given)];
    return all.some((table: TextRows) => table[key]?.toLowerCase() === written.toLowerCase());
  }

  #sayIn<Rows extends TextRows>(rows: Rows, prefix: string, message?: Spoken): Say<Rows> {
    const own = this.#languageOf(message?.sender?.locale) ?? this.#languageOf(this.#locale);
    const languages = own === undefined ? ['en'] : [...own, 'en'];
    const tables = languages.map((tag) => this.#given[tag] ?? {});
    return sayIn(rows, { tables, prefix, locale: languages[0] ?? 'en' });
  }

  /** Finds the language that is spoken for a tag, and after it the one that it is a form of: nothing if neither is spoken. */
  #languageOf(tag = ''): readonly string[] | undefined {
    const wanted = tag.toLowerCase();
    const spoken = [...Object.keys(this.#given), 'en'].filter((one) =>
      `${wanted}-`.startsWith(`${one.toLowerCase()}-`),
    );
    return spoken.length === 0 ? undefined : spoken.toSorted((a, b) => b.length - a.length);
  }
}
