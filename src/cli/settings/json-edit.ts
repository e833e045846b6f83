import { type Node, parseTree } from 'jsonc-parser';

/**
 * Adds an element to a list at the top level of a text of JSON. All else stays as it is written.
 *
 * @param text an object as JSON: it has been parsed before.
 * @param key the member with the list; it is added if it is missing.
 * @param element the element as JSON.
 */
export function withElement(text: string, key: string, element: string): string {
  const { top, list } = listIn(text, key);
  return list === undefined
    ? inserted(text, top, `${JSON.stringify(key)}: [${element}]`)
    : inserted(text, list, element);
}

/** Takes the element at an index out of a list at the top level of a text of JSON. */
export function withoutElement(text: string, key: string, at: number): string {
  const { list } = listIn(text, key);
  const { children: items = [] } = list ?? {};
  const [item, before, after] = [items[at], items[at - 1], items[at + 1]];
  if (list === undefined || item === undefined) return text;
  if (after !== undefined) return text.slice(0, item.offset) + text.slice(after.offset);
  const from = before === undefined ? list.offset + 1 : endOf(before);
  return text.slice(0, from) + text.slice(before === undefined ? endOf(list) - 1 : endOf(item));
}

/** A member at the top level; of two with one key the last, as JSON is parsed. */
function listIn(text: string, key: string) {
  const top = parseTree(text);
  const member = top?.children?.findLast(({ children }) => children?.[0]?.value === key);
  return { top, list: member?.children?.[1] };
}

const endOf = ({ offset, length }: Node): number => offset + length;

/** Writes an item at the end of a list or an object, with the blanks of the items before it. */
function inserted(text: string, node: Node | undefined, item: string): string {
  if (node === undefined) return text;
  const [first, last] = [node.children?.[0], node.children?.at(-1)];
  if (first === undefined || last === undefined) {
    const isTop = node.parent === undefined;
    const inside = isTop ? `\n  ${item}\n` : item;
    return `${text.slice(0, node.offset + 1)}${inside}${text.slice(endOf(node) - 1)}`;
  }
  const blanks = text.slice(node.offset + 1, first.offset);
  const at = endOf(last);
  return `${text.slice(0, at)},${blanks === '' ? ' ' : blanks}${item}${text.slice(at)}`;
}
