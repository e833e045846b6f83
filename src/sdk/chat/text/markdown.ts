import { MarkdownWriter } from './markdown-writer.js';
import { parseMarkdown } from './parse-markdown.js';
import { plainText, type RichText } from './rich-text.js';

/**
 * Reads Markdown: CommonMark with tables, task lists, struck and hidden text. Markup that is not closed is text, and so
 * is HTML. Blocks stand as close together as they are written. A table is text in columns, or a line a row if it has
 * links or is wide. A target that is no web address, such as `/page`, is written behind its text. Markup around nothing
 * is shown as it is written.
 *
 * @example
 * fromMarkdown('a **b**'); // { text: 'a b', marks: [{ from: 2, to: 3, tag: 'b' }] }
 */
export function fromMarkdown(source: string): RichText {
  const tokens = parseMarkdown(source);
  const rich = tokens && new MarkdownWriter().blocks(tokens);
  return rich === undefined || rich.text.trim() === '' ? plainText(source) : rich;
}
