/** The functions that take secrets out of one text. */
export interface SecretFilter {
  /** Cleans a text that is whole. */
  readonly whole: (text: string) => string;
  /** Cleans a text that still grows: the beginning of a secret at its end goes, too. */
  readonly growing: (text: string) => string;
  /** The text that takes the place of a secret. */
  readonly mark: string;
}

/** Tells whether a text may be JSON that holds a text which still grows: a delta, or a reply that is shown before it is whole. */
export function mayGrow(text: string): boolean {
  return isObject(text) && (text.includes('"streaming":true') || text.includes('"delta":"'));
}

/** Cleans the texts within a line of JSON: its keys, its numbers and its form stay. `undefined` if it is no JSON. */
export function withinJson(text: string, filter: SecretFilter): string | undefined {
  if (!isObject(text)) return undefined;
  try {
    const found = JSON.stringify(cleaned(JSON.parse(text), filter));
    return text.endsWith('\n') ? `${found}\n` : found;
  } catch {
    return undefined;
  }
}

function isObject(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function cleaned(value: unknown, filter: SecretFilter): unknown {
  if (typeof value === 'string') return filter.whole(value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, filter));
  if (typeof value !== 'object' || value === null) return value;
  const grown = new Map(Object.entries(grownIn(value, filter)));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, grown.get(key) ?? cleaned(item, filter)]),
  );
}

/** The texts of an object that still grow, cleaned: of `agent.output.delta`, and of a reply that is shown in parts. */
function grownIn(
  value: { readonly [key in 'text' | 'delta' | 'content' | 'streaming']?: unknown },
  { growing, mark }: SecretFilter,
): Readonly<Record<string, string>> {
  const { text, delta, content, streaming } = value;
  if (streaming === true && typeof content === 'string') return { content: growing(content) };
  if (typeof text !== 'string' || typeof delta !== 'string' || !text.endsWith(delta)) return {};
  const before = growing(text.slice(0, text.length - delta.length));
  const shown = growing(delta);
  // what was added goes as a whole if a secret began before it
  return { text: growing(text), delta: before + shown === growing(text) ? shown : mark };
}
