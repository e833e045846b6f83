import { kernelError } from 'sluice-kernel/internal';
import { bounded, leftOut } from './bounded.js';

/** The patterns that have a name here. Each takes a time that grows with the text alone. */
const known = {
  email: /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu,
  card: /(?<!\d)(?:[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}|3\d{3}[ -]?\d{6}[ -]?\d{5})(?!\d)/g,
  iban: /\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?\b/g,
  phone: /(?<![\p{L}\d])\+\d(?:[ ()./-]{0,2}\d){6,14}(?!\d)/gu,
} as const;

/** Patterns by their names: `true` for one that is known here, or a regular expression. */
export type ScrubPatterns = Readonly<Record<string, true | string>>;

/** The options of a scrub: it cleans texts that are kept for reading (durability §13). */
export interface ScrubOptions {
  /** Each find becomes the name of its pattern in brackets: `[email]`. */
  readonly patterns?: ScrubPatterns | undefined;
  /** Gets each text after the patterns, and returns it cleaned, at once. */
  readonly fn?: ((text: string) => string) | undefined;
  /** Hears why a text was left out: the function threw, say. It never hears the text. */
  readonly onLeftOut?: (problem: string) => void;
}

/** Cleans a text, or each text in a line of JSON. It never throws. */
export type Scrub = (text: string) => string;

/**
 * Makes the function that every writer of a journal passes (durability §13). A text that it cannot clean is left out.
 *
 * @throws SluiceError `bad-option` for a pattern that is no regular expression.
 * @example
 * const scrub = scrubber({ patterns: { email: true, ticket: 'T-\\d{6}' } });
 * scrub('{"content":"T-000001 is of ada@example.com"}'); // {"content":"[ticket] is of [email]"}
 */
export function scrubber({ patterns = {}, fn, onLeftOut = () => undefined }: ScrubOptions): Scrub {
  const rules = Object.entries(patterns).map(ruleOf);
  const cleaned = (text: string): string => {
    const whole = text.length > cutFrom ? text.replace(/.{0,64}…$/su, '…') : text;
    const found = rules.reduce((from, rule) => rule(from), whole);
    return fn === undefined ? found : fn(found); // what it throws or gives is looked at
  };
  const run = bounded(cleaned, onLeftOut);
  return (text) => {
    try {
      const value = parsed(text);
      if (value === undefined) return run([text])[0] ?? leftOut;
      const texts: string[] = [];
      mapped(value, (one) => {
        texts.push(one);
        return one;
      });
      const all = run(texts).values();
      const json = JSON.stringify(mapped(value, () => all.next().value ?? leftOut));
      return text.endsWith('\n') ? `${json}\n` : json;
    } catch (error) {
      onLeftOut(`it cannot be read: ${Object(error).name}`); // nested too deep, say
      return JSON.stringify({ content: leftOut });
    }
  };
}

/** Makes one function of the one that takes secrets out of dispatches and a scrub, if there is one. */
export function both(clean: Scrub, scrub: Scrub | undefined): Scrub {
  return scrub === undefined ? clean : (text) => scrub(clean(text));
}

/** Finds a pattern that is neither known nor a regular expression. @returns its name. */
export function badPattern(patterns: ScrubPatterns): string | undefined {
  return Object.entries(patterns).find(([name, one]) => expressionOf(name, one) === undefined)?.[0];
}

function expressionOf(name: string, pattern: true | string): RegExp | undefined {
  if (pattern === true) return new Map<string, RegExp>(Object.entries(known)).get(name);
  try {
    return new RegExp(pattern, 'gu');
  } catch {
    return undefined;
  }
}

/** Characters of a text that may have been cut off: of such a text the end goes, which may be the beginning of anything. */
const cutFrom = 200;

function ruleOf([name, pattern]: [string, true | string]): Scrub {
  const expression = expressionOf(name, pattern);
  const problem = `pattern "${name}" is no regular expression`;
  if (expression === undefined) throw kernelError('bad-option', { option: 'scrub', problem });
  const isIt = expression === known.card ? isCard : Boolean; // of an empty text nothing is found
  return (text) => text.replace(expression, (found) => (isIt(found) ? `[${name}]` : found));
}

/** Checks the last digit of a card number. */
function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, '').split('').reverse().map(Number);
  const sum = digits.reduce(
    (all, digit, at) => all + (at % 2 === 0 ? digit : (digit * 2) % 9 || (digit && 9)),
    0,
  );
  return digits.length >= 13 && sum % 10 === 0;
}

function parsed(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keys of names, ids and times: a value there that is one word stays. Rows are found and told apart by it. */
const named =
  /(?:^|[a-z])(?:id|Id|ids|Ids|Key|Ms|At|Seq|Signature)$|^(?:seq|time|timestamp|role|type|kind|family|status|state|class|channel|omitted|toolName)$/;
const word = /^[\w:./+=-]*$/;

/**
 * Replaces each text of plain data; also a key that is no name, and a number that is as long as one of a card.
 *
 * @param kept names of fields in which one word stays.
 */
export function mapped(
  value: unknown,
  of: (text: string) => string,
  key = '',
  kept = named,
): unknown {
  if (typeof value === 'string') return kept.test(key) && word.test(value) ? value : of(value);
  if (typeof value === 'number') {
    if (Math.abs(value) < 1e11 || kept.test(key)) return value;
    const text = of(String(value));
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((one) => mapped(one, of, key, kept));
  if (typeof value !== 'object' || value === null) return value;
  const found = new Map<string, unknown>();
  for (const [name, one] of Object.entries(value)) {
    let to = /^[A-Za-z_]\w*$/.test(name) ? name : of(name);
    while (found.has(to)) to += '+';
    found.set(to, isGrowing(value, name) ? leftOut : mapped(one, of, name, kept));
  }
  const { thinking, thinkingSignature } = value as Readonly<Record<string, unknown>>; // of a model's thought
  if (thinkingSignature !== undefined && found.get('thinking') !== thinking)
    found.delete('thinkingSignature'); // it proves the words as they were
  return Object.fromEntries(found);
}

/** Returns whether a text of an object still grows: a pattern may find no part of what is whole only later. */
function isGrowing(of: object, name: string): boolean {
  const { streaming, delta } = of as Readonly<Record<string, unknown>>; // of a reply that is shown in parts
  if (name === 'content') return streaming === true;
  return (name === 'text' || name === 'delta') && typeof delta === 'string';
}
