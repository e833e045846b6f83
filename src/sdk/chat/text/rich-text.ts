/** The look of a piece of text, named as HTML names it; `expandable` is a quote that is folded up. */
export type Tag =
  | 'b'
  | 'i'
  | 'u'
  | 's'
  | 'spoiler'
  | 'code'
  | 'pre'
  | 'a'
  | 'blockquote'
  | 'expandable';

/** A look of the text between two places, in UTF-16 units. */
export interface Mark {
  readonly from: number;
  readonly to: number;
  readonly tag: Tag;
  /** The target of a link. */
  readonly href?: string;
  /** The language of a block of code. */
  readonly language?: string;
}

/** A text as people see it, and its marks. It has no markup in it, so it can be measured and cut. */
export interface RichText {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/**
 * A text without marks.
 *
 * @example
 * plainText('2 * 3'); // { text: '2 * 3', marks: [] }
 */
export function plainText(text: string): RichText {
  return { text, marks: [] };
}

/** Texts one after the other. */
export function joined(...parts: readonly RichText[]): RichText {
  return joinedAll(parts);
}

/** Texts one after the other, however many they are. */
export function joinedAll(parts: readonly RichText[]): RichText {
  let text = '';
  const marks: Mark[] = [];
  for (const part of parts) {
    const by = text.length;
    for (const mark of part.marks) marks.push({ ...mark, from: mark.from + by, to: mark.to + by });
    text += part.text;
  }
  return { text, marks };
}

/** A text with one more mark, over all of it. */
export function marked(
  tag: Tag,
  { text, marks }: RichText,
  more: Pick<Mark, 'href' | 'language'> = {},
): RichText {
  return { text, marks: [{ from: 0, to: text.length, tag, ...more }, ...marks] };
}

/** A part of a text. Marks that reach over its ends are cut there. */
export function sliceOf({ text, marks }: RichText, from: number, to: number): RichText {
  return {
    text: text.slice(from, to),
    marks: marks
      .filter((mark) => mark.from < to && mark.to > from)
      .map((mark) => ({
        ...mark,
        from: Math.max(mark.from, from) - from,
        to: Math.min(mark.to, to) - from,
      })),
  };
}

/**
 * A text without white space at its ends.
 *
 * @example
 * trimmed(fromMarkdown(message.content));
 */
export function trimmed(rich: RichText): RichText {
  const from = rich.text.length - rich.text.trimStart().length;
  const to = rich.text.trimEnd().length;
  return from === 0 && to === rich.text.length ? rich : sliceOf(rich, from, Math.max(from, to));
}
