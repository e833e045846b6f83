import { type Mark, nested, type RichText, type Tag } from 'sluice/chat';

/** A block or an element of a message, as Slack's Block Kit has it. */
export type Block = Readonly<Record<string, unknown>>;

/** The longest text beside blocks: notifications show it, and nothing else does. */
const fallbackLimit = 3_000;

/** The marks that are elements of their own in a `rich_text` block. */
const elementOf: Readonly<Partial<Record<Tag, string>>> = {
  pre: 'rich_text_preformatted',
  blockquote: 'rich_text_quote',
  expandable: 'rich_text_quote',
};
const styleOf: Readonly<Partial<Record<Tag, string>>> = {
  b: 'bold',
  i: 'italic',
  s: 'strike',
  code: 'code',
};

/**
 * A text as a `rich_text` block: no sign in it is markup, so each letter is shown as it is. The line end before and after
 * a block of code or a quote goes, since Slack begins a line there.
 */
export function richTextBlock(rich: RichText): Block {
  const { text, marks } = rich;
  const outer = marks
    .filter(({ tag, from, to }) => elementOf[tag] !== undefined && from < to)
    .toSorted((a, b) => a.from - b.from);
  const elements: Block[] = [];
  const section = (from: number, to: number): void => {
    const begin = from > 0 && text[from] === '\n' ? from + 1 : from;
    const end = to < text.length && text[to - 1] === '\n' ? to - 1 : to;
    if (begin < end) elements.push({ type: 'rich_text_section', elements: runs(rich, begin, end) });
  };
  let at = 0;
  for (const { from, to, tag } of outer) {
    if (from < at) continue; // within the one before
    section(at, from);
    elements.push({ type: elementOf[tag], elements: runs(rich, from, to, tag === 'pre') });
    at = to;
  }
  section(at, text.length);
  return { type: 'rich_text', elements };
}

/** The pieces of a text between two places, each of one look. */
function runs({ text, marks }: RichText, from: number, to: number, isCode = false): Block[] {
  const inside = marks.filter((mark) => mark.from < to && mark.to > from);
  const edges = inside.flatMap((mark) => [mark.from, mark.to]).filter((at) => at > from && at < to);
  const cuts = [...new Set([from, ...edges, to])].toSorted((a, b) => a - b);
  return cuts.slice(0, -1).map((begin, index) => {
    const over = inside.filter((mark) => mark.from <= begin && mark.to > begin);
    const styles = isCode ? [] : over.flatMap(({ tag }) => styleOf[tag] ?? []);
    const url = over.find(({ tag }) => tag === 'a')?.href;
    return {
      ...(url === undefined ? { type: 'text' } : { type: 'link', url }),
      text: text.slice(begin, cuts[index + 1]),
      ...(styles.length > 0 && { style: Object.fromEntries(styles.map((one) => [one, true])) }),
    };
  });
}

const signs: Readonly<Partial<Record<Tag, string>>> = {
  b: '*',
  i: '_',
  s: '~',
  code: '`',
  pre: '```',
};

/** A text as mrkdwn: for notifications, which show no blocks. */
export function toMrkdwn(rich: RichText): string {
  const written = nested(rich, {
    open: ({ tag, href = '' }: Mark) => (tag === 'a' ? `<${escaped(href)}|` : (signs[tag] ?? '')),
    close: ({ tag }: Mark) => (tag === 'a' ? '>' : (signs[tag] ?? '')),
    text: escaped,
  });
  return wellFormed(written.slice(0, fallbackLimit));
}

/** A text in which nothing is markup. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A text without halves of characters: a call with one in it cannot be written. */
export function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
