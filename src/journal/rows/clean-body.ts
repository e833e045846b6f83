/** Takes secrets out of a text. */
export type CleanText = (text: string) => string;

/**
 * The fields that hold words of people or agents, in the project's own messages and in those of providers. The other fields
 * address and classify them.
 */
const said: ReadonlySet<string> = new Set([
  'content',
  'text',
  'thinking',
  'error',
  'errorMessage',
  'line',
  'caption',
  'body',
]);

/**
 * Takes secrets out of the body of a row (spec §20.8). Of a dispatch every text is cleaned: the row serves to explain it. Of an
 * update, a send and a transcript only words are cleaned: addresses must stay as they were. A session has no words,
 * and is kept as it is. Keys and numbers stay as they are.
 *
 * @param body JSON.
 */
export function cleanBody(table: string, body: string, clean: CleanText): string {
  if (table === 'sessions') return body;
  const found = clean(body); // finds nothing in most bodies, and that costs one pass
  if (table === 'dispatches' || found === body) return found;
  const value: unknown = JSON.parse(body);
  if (typeof value === 'string') return JSON.stringify(clean(value));
  return JSON.stringify(merged(value, JSON.parse(found)));
}

/** Takes secrets out of the free texts of a row, or of the changes of one (spec §20.8). */
export function cleanTexts<Values extends object>(
  table: string,
  values: Values,
  clean: CleanText,
): Values {
  const texts = { body: whole, shown: whole, cause: clean, reason: clean };
  function whole(text: string): string {
    return cleanBody(table, text, clean);
  }
  const cleaned = Object.entries(texts).flatMap(([field, cleanOf]) => {
    const text: unknown = Reflect.get(values, field);
    return typeof text === 'string' ? [[field, cleanOf(text)] as const] : [];
  });
  return { ...values, ...Object.fromEntries(cleaned) };
}

/** Merges a value with its cleaned form: words are taken from the cleaned one. Both have the same form. */
function merged(value: unknown, clean: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const cleaned = new Map(Object.entries(Object(clean)));
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    said.has(key) ? cleaned.get(key) : merged(item, cleaned.get(key)),
  ]);
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
