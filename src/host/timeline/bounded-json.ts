/** The text in the place of a secret. */
const redacted = '[redacted]';

/** The options of making a text of plain data. */
interface BoundedJsonOptions {
  /** Characters that the text may have, roughly; a longer text is not made. */
  readonly maxLength: number;
  /** Returns whether the value of a key is a secret. */
  readonly isSecret?: (key: string) => boolean;
}

/** Thrown to leave `JSON.stringify` early. */
class TooLarge extends Error {}

/**
 * Writes plain data as JSON, without secrets, and without the cost of a text that is too large to be persisted.
 *
 * @returns the text, or the reason why there is none.
 */
export function boundedJson(
  value: unknown,
  { maxLength, isSecret }: BoundedJsonOptions,
): { readonly json: string } | { readonly problem: 'too-large' | 'not-json' } {
  let length = 0;
  const look = (key: string, part: unknown): unknown => {
    length += key.length + (typeof part === 'string' ? part.length : 4);
    if (length > maxLength) throw new TooLarge();
    if (part !== null && part !== undefined && isSecret?.(key) === true) return redacted;
    return typeof part === 'bigint' ? String(part) : part;
  };
  try {
    const json = JSON.stringify(value, look);
    return json === undefined ? { problem: 'not-json' } : { json };
  } catch (error) {
    // data that is too deep for the stack is too large as well; a cycle, or an accessor that throws, is no JSON
    return {
      problem: error instanceof TooLarge || error instanceof RangeError ? 'too-large' : 'not-json',
    };
  }
}

const secretWords =
  /(^|_)(token|secret|password|passphrase|authorization|api_?key|cookie|credentials?|private_?key|signature)$/;

/**
 * Makes a function that recognizes the keys of secrets by their names: `token`, `botToken`, `api_key`, but not a count such
 * as `inputTokens`.
 *
 * @param also further names, as they are written.
 */
export function secretKeys(also: readonly string[] = []): (key: string) => boolean {
  const known = new Map<string, boolean>(also.map((key) => [key, true]));
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const words = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[-.\s]+/g, '_');
    const isSecret = secretWords.test(words.toLowerCase());
    if (known.size < 10_000) known.set(key, isSecret); // keys may come from outside: no more are remembered
    return isSecret;
  };
}
