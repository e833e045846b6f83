import { type Mark, nested, type RichText, type Tag } from 'sluice/chat';

/** A text as HTML that Telegram takes: escaped once, every tag closed in its order. */
export function toHtml(rich: RichText): string {
  return nested(rich, { open: openingTag, close: closingTag, text: escapeHtml });
}

/** A text in which nothing is markup. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function openingTag({ tag, href = '', language }: Mark): string {
  if (tag === 'a') return `<a href="${escapeHtml(href).replaceAll('"', '&quot;')}">`;
  if (tag === 'pre' && language !== undefined)
    return `<pre><code class="language-${escapeHtml(language).replaceAll('"', '')}">`;
  return tag === 'expandable' ? '<blockquote expandable>' : `<${htmlName(tag)}>`;
}

function closingTag({ tag, language }: Mark): string {
  if (tag === 'pre' && language !== undefined) return '</code></pre>';
  return `</${htmlName(tag)}>`;
}

function htmlName(tag: Tag): string {
  if (tag === 'spoiler') return 'tg-spoiler';
  return tag === 'expandable' ? 'blockquote' : tag;
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
  'tg-spoiler': 'spoiler',
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
