import type { Mark, RichText } from './rich-text.js';

/** The signs of a markup in which parts stand within parts. */
export interface Markup {
  readonly open: (mark: Mark) => string;
  /** @param shown is the text that the mark is of. */
  readonly close: (mark: Mark, shown: string) => string;
  /** A text in which nothing is markup. */
  readonly text: (text: string) => string;
}

/** No markup: the target of a link stands behind its text. */
const withTargets: Markup = {
  open: () => '',
  close: ({ href }, shown) =>
    [undefined, shown, `mailto:${shown}`].includes(href) ? '' : ` (${href})`,
  text: (text) => text,
};

/**
 * Writes a text in a markup, each part closed in its order. Marks that overlap are closed and opened again.
 *
 * @param markup by default none: the target of a link stands behind its text.
 *
 * @example
 * nested(fromMarkdown('**a** & b'), { open: ({ tag }) => `<${tag}>`, close: ({ tag }) => `</${tag}>`, text: escapeHtml });
 */
export function nested({ text, marks }: RichText, markup = withTargets): string {
  const sorted = marks
    .filter(({ from, to }) => from < to)
    .toSorted((a, b) => a.from - b.from || b.to - a.to);
  const edges = [...new Set([0, text.length, ...sorted.flatMap(({ from, to }) => [from, to])])];
  edges.sort((a, b) => a - b);
  const open: Mark[] = [];
  let written = '';
  let next = 0;
  edges.forEach((at, index) => {
    // a mark that ends below others that go on closes those, too; they open again
    const lowest = open.findIndex(({ to }) => to <= at);
    const closed = lowest === -1 ? [] : open.splice(lowest);
    for (const mark of closed.toReversed())
      written += markup.close(mark, text.slice(mark.from, mark.to));
    const again = closed.filter(({ to }) => to > at);
    for (; sorted[next]?.from === at; next++) {
      const mark = sorted[next];
      if (mark !== undefined) again.push(mark);
    }
    written += again.map(markup.open).join('');
    open.push(...again);
    written += markup.text(text.slice(at, edges[index + 1] ?? at));
  });
  return written;
}
