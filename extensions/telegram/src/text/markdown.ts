import type { MessageEntity } from 'grammy/types';

const signs: Partial<Record<MessageEntity['type'], string>> = {
  bold: '**',
  italic: '_',
  strikethrough: '~~',
  spoiler: '||',
};

/** Longer than any text: what ends at a place stands before a quote that begins there, and what begins after it. */
const longest = 100_000;

/** Writes a text of Telegram as Markdown: emphasis, code, quotes, and where links go. Its other signs stay as they are. */
export function toMarkdown(text: string, entities: readonly MessageEntity[]): string {
  const written = entities.flatMap((entity, index) => {
    const { type, offset: from, length } = entity;
    const to = from + length;
    const inside = text.slice(from, to);
    if (type === 'blockquote' || type === 'expandable_blockquote')
      return [...inside.matchAll(/^/gm)].map((line) => ({
        at: from + line.index,
        by: 0,
        sign: '> ',
      }));
    const [open, close] = signsOf(entity, inside, text[from - 1], text[to]);
    // the longest begins first and ends last; of two that are as long, the first does
    const by = longest - length + index / entities.length;
    return [
      { at: from, by, sign: open },
      { at: to, by: -by, sign: close },
    ];
  });
  let made = '';
  let at = 0;
  for (const one of written.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    made += text.slice(at, one.at) + one.sign;
    at = one.at;
  }
  return made + text.slice(at);
}

function signsOf(entity: MessageEntity, inside: string, before = '\n', after = '\n') {
  const { type } = entity;
  if (type === 'text_link') return ['[', `](${entity.url})`] as const;
  if (type === 'text_mention') return ['[', `](tg://user?id=${entity.user.id})`] as const;
  const { [type]: sign = '' } = signs;
  if (type !== 'code' && type !== 'pre') return [sign, sign] as const;
  const inCode = Math.max(0, ...(inside.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(Math.max(type === 'pre' ? 3 : 1, inCode + 1));
  if (entity.type !== 'pre') return [fence, fence] as const;
  const open = `${before === '\n' ? '' : '\n'}${fence}${entity.language ?? ''}\n`;
  return [open, `\n${fence}${after === '\n' ? '' : '\n'}`] as const;
}
