import type { MessageEntity } from 'grammy/types';
import { type Mark, nested, type Tag } from 'sluice/chat';

const tags: Partial<Record<MessageEntity['type'], Tag>> = {
  bold: 'b',
  italic: 'i',
  strikethrough: 's',
  spoiler: 'spoiler',
  code: 'code',
  pre: 'pre',
  text_link: 'a',
  text_mention: 'a',
  blockquote: 'blockquote',
  expandable_blockquote: 'blockquote',
};

const signs: Partial<Record<Tag, string>> = { b: '**', i: '_', s: '~~', spoiler: '||' };

/** Writes a text of Telegram as Markdown: emphasis, code, quotes, and where links go. Its other signs stay as they are. */
export function toMarkdown(text: string, entities: readonly MessageEntity[]): string {
  const marks = entities.flatMap((entity): Mark[] => {
    const { type, offset: from, length } = entity;
    const tag = tags[type];
    if (tag === undefined) return [];
    const href =
      type === 'text_link'
        ? entity.url
        : type === 'text_mention' && `tg://user?id=${entity.user.id}`;
    const more = {
      ...(href && { href }),
      ...(type === 'pre' && entity.language !== undefined && { language: entity.language }),
    };
    const mark = { from, to: from + length, tag, ...more };
    return tag === 'pre' || tag === 'a' ? [mark] : linesOf(text, mark);
  });
  // a quote is around all that begins where it does
  const outer = marks.toSorted(
    (a, b) => Number(b.tag === 'blockquote') - Number(a.tag === 'blockquote'),
  );
  return nested(
    { text, marks: outer },
    {
      open: (mark) => openingOf(text, mark),
      close: (mark) => closingOf(text, mark),
      text: (part) => part,
    },
  );
}

/** A mark for each line: no sign of Markdown but a fence reaches over a break. */
function linesOf(text: string, mark: Mark): Mark[] {
  const lines = text.slice(mark.from, mark.to).matchAll(/[^\n]+/g);
  return [...lines].map(({ 0: line, index }) => {
    const from = mark.from + index;
    return { ...mark, from, to: from + line.length };
  });
}

function openingOf(text: string, { from, to, tag, language = '' }: Mark): string {
  if (tag === 'a') return '[';
  if (tag === 'blockquote') return '> ';
  if (tag === 'code') return fenceOf(text.slice(from, to), 1);
  if (tag !== 'pre') return signs[tag] ?? '';
  const isAtStart = from === 0 || text[from - 1] === '\n';
  return `${isAtStart ? '' : '\n'}${fenceOf(text.slice(from, to), 3)}${language}\n`;
}

function closingOf(text: string, { from, to, tag, href = '' }: Mark): string {
  if (tag === 'a') return `](${href})`;
  if (tag === 'blockquote') return '';
  if (tag === 'code') return fenceOf(text.slice(from, to), 1);
  if (tag !== 'pre') return signs[tag] ?? '';
  const isAtEnd = to === text.length || text[to] === '\n';
  return `${text[to - 1] === '\n' ? '' : '\n'}${fenceOf(text.slice(from, to), 3)}${isAtEnd ? '' : '\n'}`;
}

/** Backticks that are not in the code. */
function fenceOf(code: string, least: number): string {
  const longest = Math.max(0, ...(code.match(/`+/g) ?? []).map(({ length }) => length));
  return '`'.repeat(longest < least ? least : longest + 1);
}
