import type { Token } from 'markdown-it';
import stringWidth from 'string-width';
import { joinedAll, type Mark, marked, plainText, type RichText, type Tag } from './rich-text.js';

/** The columns of a terminal that a table may take to be shown with its columns aligned. */
const widestTable = 100;

/** The targets that a provider may be given as a link. Others stand in the text, behind what they are of. */
const linkable = /^(?:https?|tg|mailto):/i;

/** The look of what stands between an opening and a closing token. */
const tags: Readonly<Record<string, Tag>> = {
  strong: 'b',
  em: 'i',
  s: 's',
  link: 'a',
  spoiler: 'spoiler',
};

/** A mark whose end moves. */
type Ending = Omit<Mark, 'to'> & { to: number };

/** Writes parsed Markdown as a text with marks. */
export class MarkdownWriter {
  #text: string;
  readonly #marks: Ending[];
  /** The marks that have begun and not ended, the innermost last. */
  readonly #open: Ending[] = [];
  /** The signs before each line, of the quotes and list items around it. */
  readonly #indents: string[] = [];
  /** The number of the next item of each list around; `undefined` in one with bullets. */
  readonly #numbers: (number | undefined)[] = [];
  /** The line of the source behind the last block. */
  #endLine: number;
  /** A container has begun on this line, and its first block goes on there. */
  #isBegun = false;

  /** The steps of the tokens that begin and end blocks. */
  readonly #steps: Readonly<Record<string, (token: Token) => unknown>> = {
    paragraph_open: (token) => this.#beginLeaf(token),
    heading_open: (token) => this.#beginLeaf(token).#begin('b'),
    heading_close: () => this.#end(),
    inline: ({ children }) => this.#inline(children ?? []),
    fence: (token) => this.#code(token),
    code_block: (token) => this.#code(token),
    hr: (token) => this.#beginLeaf(token).#add(plainText('———')),
    blockquote_open: (token) => this.#beginQuote(token),
    blockquote_close: () => this.#endContainer() === 0 && this.#end(),
    list_item_close: () => this.#endContainer(),
    bullet_list_open: () => this.#numbers.push(undefined),
    ordered_list_open: (token) => this.#numbers.push(Number(token.attrGet('start') ?? 1)),
    bullet_list_close: () => this.#numbers.pop(),
    ordered_list_close: () => this.#numbers.pop(),
  };

  /**
   * @param before is what was written of the text before, by default nothing.
   * @param endLine is the line behind its last block, counted from the first line of the tokens: 0, or less.
   */
  constructor(before = plainText(''), endLine = 0) {
    this.#text = before.text;
    this.#marks = [...before.marks];
    this.#endLine = endLine;
  }

  /** The line of the source behind the last block that was written. */
  get endLine(): number {
    return this.#endLine;
  }

  /** Writes the blocks of a text behind what was written before. */
  blocks(tokens: readonly Token[]): RichText {
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at];
      if (token?.type === 'table_open') at = this.#table(tokens, token, at);
      else if (token?.type === 'list_item_open') this.#beginItem(token, tokens[at + 2]);
      else if (token !== undefined) this.#steps[token.type]?.(token);
    }
    return this.#written();
  }

  #written(): RichText {
    return { text: this.#text, marks: this.#marks.filter(({ from, to }) => from < to) };
  }

  /** Begins a line, below an empty one if the source has one. */
  #beginLine({ map }: Token, indent = this.#indents.join('')): void {
    const [line] = map ?? [0];
    if (!this.#isBegun && this.#text !== '') {
      const end = line > this.#endLine ? '\n\n' : '\n';
      this.#text += `${this.#text.endsWith('\n') ? '' : end}${indent}`; // the block before may be empty
    }
    this.#isBegun = false;
    this.#endLine = line + 1;
  }

  #beginLeaf(token: Token, indent?: string): this {
    this.#beginLine(token, indent);
    this.#endLine = token.map?.[1] ?? this.#endLine;
    return this;
  }

  /** A quote within another block is none for a provider. Its lines have a bar before them. */
  #beginQuote(token: Token): void {
    this.#beginLine(token);
    if (this.#indents.length === 0) this.#begin('blockquote');
    this.#beginContainer(this.#indents.length === 0 ? '' : '│ ', '│ ');
  }

  #beginItem(token: Token, first: Token | undefined): void {
    this.#beginLine(token);
    const number = this.#numbers.pop();
    this.#numbers.push(number === undefined ? number : number + 1);
    const [text] = first?.type === 'inline' ? (first.children ?? []) : [];
    const [task, state] = (text?.type === 'text' && /^\[([ x])\] /i.exec(text.content)) || [];
    if (text !== undefined && task !== undefined) text.content = text.content.slice(task.length);
    const box = state === undefined ? '' : state === ' ' ? '☐ ' : '☑ ';
    const sign = number === undefined ? box || '• ' : `${number}. ${box}`;
    this.#beginContainer(sign, ' '.repeat(sign.length));
  }

  #beginContainer(sign: string, indent: string): void {
    this.#text += sign;
    this.#indents.push(sign === '' ? '' : indent);
    this.#isBegun = true;
  }

  /** @returns how many containers are left around. */
  #endContainer(): number {
    this.#indents.pop();
    this.#isBegun = false;
    return this.#indents.length;
  }

  /** Writes a block of code, below what else its opening line says. */
  #code(token: Token): void {
    const info = token.info.trim();
    const [language = ''] = /^[\w+#.-]*/.exec(info) ?? [];
    const code = token.content.replace(/\n$/, '');
    const isEmpty = code.trim() === '';
    const about = isEmpty ? info : info.slice(language.length).trim();
    if (isEmpty && about === '') return;
    this.#beginLeaf(token, '');
    if (!isEmpty) this.#begin('pre', language === '' ? {} : { language });
    this.#text += [about, code].filter((one) => one !== '').join('\n');
    if (!isEmpty) this.#end();
  }

  /** @returns the place of the token that closes the table. */
  #table(tokens: readonly Token[], table: Token, from: number): number {
    const rows: RichText[][] = [];
    let at = from;
    for (; tokens[at]?.type !== 'table_close'; at++) {
      const { type, children } = tokens[at] ?? {};
      if (type === 'tr_open') rows.push([]);
      else if (type === 'inline') rows.at(-1)?.push(new MarkdownWriter().cell(children ?? []));
    }
    this.#beginLeaf(table, '');
    this.#add(tableOf(rows));
    return at;
  }

  /** Writes a text within one line. */
  cell(children: readonly Token[]): RichText {
    this.#inline(children);
    return this.#written();
  }

  #add({ text, marks }: RichText): void {
    const by = this.#text.length;
    this.#marks.push(...marks.map((mark) => ({ ...mark, from: mark.from + by, to: mark.to + by })));
    this.#text += text;
  }

  #inline(children: readonly Token[]): void {
    for (const token of children) {
      const [, name = '', step] = /^(.*)_(open|close)$/.exec(token.type) ?? [];
      if (token.type === 'code_inline') this.#add(marked('code', plainText(token.content)));
      else if (token.type.endsWith('break')) this.#text += `\n${this.#indents.join('')}`;
      else if (token.type === 'image') {
        this.#begin('a', { href: String(token.attrGet('src')) });
        this.#inline(token.children ?? []);
        this.#endLink();
      } else if (step === 'open')
        this.#begin(
          tags[name] ?? 'b',
          name === 'link' ? { href: String(token.attrGet('href')) } : {},
        );
      else if (name === 'link') this.#endLink();
      else if (step === 'close') this.#end();
      else this.#text += token.content;
    }
  }

  #begin(tag: Tag, more: Pick<Mark, 'href' | 'language'> = {}): void {
    const from = this.#text.length;
    const mark = { tag, from, to: from, ...more };
    this.#marks.push(mark);
    this.#open.push(mark);
  }

  #end(): void {
    const mark = this.#open.pop();
    if (mark !== undefined) mark.to = this.#text.length;
  }

  /** Ends a link, or writes its target behind it if it cannot be one: in a link, for instance. */
  #endLink(): void {
    const { from = 0, href = '' } = this.#open.at(-1) ?? {};
    const shown = this.#text.slice(from);
    if (shown === '') this.#text += href;
    const isInLink = this.#open.filter(({ tag }) => tag === 'a').length > 1;
    if (!isInLink && linkable.test(href) && URL.canParse(href)) {
      this.#end();
      return;
    }
    this.#open.pop();
    if (![href, ''].includes(shown) && href !== '') this.#text += ` (${href})`;
  }
}

/** A table as text in columns; if it is wide or has links, a line a row. */
function tableOf(rows: readonly (readonly RichText[])[]): RichText {
  const [head = [], ...body] = rows;
  const widths = head.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at]))));
  const isWide = widths.reduce((sum, width) => sum + width, 0) > widestTable;
  const hasLinks = rows.flat().some(({ marks }) => marks.some(({ tag }) => tag === 'a'));
  if (isWide || hasLinks) {
    const lines = [head.map((cell) => marked('b', cell)), ...body];
    return between(
      '\n',
      lines.map((cells) => between(' | ', cells)),
    );
  }
  const lineOf = (row: readonly RichText[]): string =>
    row.map((cell, at) => cell.text + ' '.repeat((widths[at] ?? 0) - widthOf(cell))).join(' | ');
  const rule = widths.map((width) => '-'.repeat(width)).join('-|-');
  const lines = [lineOf(head), rule, ...body.map(lineOf)].map((line) => line.trimEnd());
  return marked('pre', plainText(lines.join('\n')));
}

function widthOf(cell: RichText | undefined): number {
  return stringWidth(cell?.text ?? '');
}

function between(sign: string, parts: readonly RichText[]): RichText {
  return joinedAll(parts.flatMap((part, at) => (at === 0 ? [part] : [plainText(sign), part])));
}
