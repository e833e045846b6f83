import type { Mark, RichText, Tag } from './rich-text.js';

/** A text as HTML that Telegram takes: escaped once, every tag closed in its order. */
export function toHtml({ text, marks }: RichText): string {
  const sorted = marks
    .filter(({ from, to }) => from < to)
    .toSorted((a, b) => a.from - b.from || b.to - a.to);
  const edges = [...new Set([0, text.length, ...sorted.flatMap(({ from, to }) => [from, to])])];
  edges.sort((a, b) => a - b);
  const open: Mark[] = [];
  let html = '';
  let next = 0;
  edges.forEach((at, index) => {
    // a mark that ends below others that go on closes those, too; they open again
    const lowest = open.findIndex(({ to }) => to <= at);
    const closed = lowest === -1 ? [] : open.splice(lowest);
    html += closed.toReversed().map(closingTag).join('');
    const again = closed.filter(({ to }) => to > at);
    for (; sorted[next]?.from === at; next++) {
      const mark = sorted[next];
      if (mark !== undefined) again.push(mark);
    }
    html += again.map(openingTag).join('');
    open.push(...again);
    html += escapeHtml(text.slice(at, edges[index + 1] ?? at));
  });
  return html;
}

/** A text in which nothing is markup. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function openingTag({ tag, href = '', language }: Mark): string {
  if (tag === 'a') return `<a href="${escapeHtml(href).replaceAll('"', '&quot;')}">`;
  if (tag === 'pre' && language !== undefined)
    return `<pre><code class="language-${escapeHtml(language).replaceAll('"', '')}">`;
  return tag === 'expandable' ? '<blockquote expandable>' : `<${tag}>`;
}

function closingTag({ tag, language }: Mark): string {
  if (tag === 'pre' && language !== undefined) return '</code></pre>';
  return `</${tag === 'expandable' ? 'blockquote' : tag}>`;
}

const tags: Readonly<Record<string, Tag>> = {
  b: 'b',
  strong: 'b',
  i: 'i',
  em: 'i',
  u: 'u',
  ins: 'u',
  s: 's',
  strike: 's',
  del: 's',
  code: 'code',
  pre: 'pre',
  a: 'a',
  blockquote: 'blockquote',
  'tg-spoiler': 'tg-spoiler',
};

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/**
 * Reads HTML that is meant for Telegram.
 *
 * @returns `undefined` where Telegram would refuse it: an unknown tag, or one that is not closed in its order.
 */
export function fromHtml(html: string): RichText | undefined {
  const token = /<(\/?)([a-z-]+)([^<>]*)>|&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]+);|[^<&]+|[<&]/giy;
  const open: { readonly name: string; readonly from: number; readonly mark: Partial<Mark> }[] = [];
  const marks: Mark[] = [];
  let text = '';
  for (const [whole, slash, name, attributes = '', entity] of html.matchAll(token)) {
    if (entity !== undefined) {
      text += charOf(entity.toLowerCase()) ?? whole;
    } else if (name === undefined) {
      if (whole === '<') return undefined;
      text += whole;
    } else if (slash === '/') {
      const last = open.pop();
      if (last?.name !== name.toLowerCase()) return undefined;
      const { from, mark } = last;
      if (mark.tag !== undefined) marks.push({ ...mark, tag: mark.tag, from, to: text.length });
    } else {
      const tag = tags[name.toLowerCase()];
      if (tag === undefined) return undefined;
      const href = /\bhref\s*=\s*"([^"]*)"/i
        .exec(attributes)?.[1]
        ?.replaceAll(/&([a-z]+);/g, (whole, name: string) => entities[name] ?? whole);
      const isExpandable = tag === 'blockquote' && /\bexpandable\b/i.test(attributes);
      const mark = { tag: isExpandable ? 'expandable' : tag, ...(href !== undefined && { href }) };
      open.push({ name: name.toLowerCase(), from: text.length, mark });
    }
  }
  return open.length > 0 ? undefined : { text, marks };
}

function charOf(entity: string): string | undefined {
  if (!entity.startsWith('#')) return entities[entity];
  const code = entity.startsWith('#x')
    ? Number.parseInt(entity.slice(2), 16)
    : Number(entity.slice(1));
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
