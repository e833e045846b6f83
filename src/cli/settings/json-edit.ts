/** The place of a value in a text of JSON, with the places of the values in it. */
interface Span {
  readonly start: number;
  readonly end: number;
  /** The elements of a list; the members of an object begin at their key. */
  readonly items: readonly {
    readonly start: number;
    readonly key?: string;
    readonly value: Span;
  }[];
}

/**
 * Adds an element to a list at the top level of a text of JSON. All else stays as it is written.
 *
 * @param text an object as JSON: it has been parsed before.
 * @param key the member with the list; it is added if it is missing.
 * @param element the element as JSON.
 */
export function withElement(text: string, key: string, element: string): string {
  const top = spanOf(text);
  const list = top.items.findLast((item) => item.key === key)?.value;
  return list === undefined
    ? inserted(text, top, `${JSON.stringify(key)}: [${element}]`)
    : inserted(text, list, element);
}

/** Takes the element at an index out of a list at the top level of a text of JSON. */
export function withoutElement(text: string, key: string, at: number): string {
  const list = spanOf(text).items.findLast((item) => item.key === key)?.value;
  const [item, before, after] = [list?.items[at], list?.items[at - 1], list?.items[at + 1]];
  if (list === undefined || item === undefined) return text;
  if (after !== undefined) return text.slice(0, item.start) + text.slice(after.start);
  const from = before?.value.end ?? list.start + 1;
  return text.slice(0, from) + text.slice(before === undefined ? list.end - 1 : item.value.end);
}

/** Writes an item at the end of a list or an object, with the blanks of the items before it. */
function inserted(text: string, { start, end, items }: Span, item: string): string {
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) {
    const isTop = start === text.search(/\S/);
    return `${text.slice(0, start + 1)}${isTop ? `\n  ${item}\n` : item}${text.slice(end - 1)}`;
  }
  const blanks = text.slice(start + 1, first.start);
  const at = last.value.end;
  return `${text.slice(0, at)},${blanks === '' ? ' ' : blanks}${item}${text.slice(at)}`;
}

/** Finds the places of a text of JSON, which begins at `from`, with or without blanks. */
function spanOf(text: string, from = 0): Span {
  const past = (pattern: RegExp, at: number): number => {
    pattern.lastIndex = at;
    pattern.test(text);
    return Math.max(at, pattern.lastIndex);
  };
  const blanks = (at: number): number => past(/\s*/y, at);
  const start = blanks(from);
  const closing = text[start] === '[' ? ']' : text[start] === '{' ? '}' : undefined;
  if (closing === undefined)
    return { start, end: past(/"(?:[^"\\]|\\.)*"|[^\s,\]}]+/y, start), items: [] };
  const items: Span['items'][number][] = [];
  let at = blanks(start + 1);
  while (at < text.length && text[at] !== closing) {
    const keyEnd = closing === '}' ? past(/"(?:[^"\\]|\\.)*"/y, at) : at;
    const value = spanOf(text, closing === '}' ? blanks(keyEnd) + 1 : at);
    const key = closing === '}' ? { key: String(JSON.parse(text.slice(at, keyEnd))) } : {};
    items.push({ start: at, ...key, value });
    at = blanks(value.end);
    if (text[at] === ',') at = blanks(at + 1);
  }
  return { start, end: at + 1, items };
}
