import stringWidth from 'string-width';

/** A terminal, as far as a screen needs it. */
export interface Terminal {
  /** Writes a text as it is. A rejection means that it was not written. */
  readonly write: (text: string) => void | Promise<void>;
  /** Its size now, in characters. */
  readonly size: () => { readonly columns: number; readonly rows: number };
}

/** Colours a line. It must not change what is read. */
export type PaintLine = (line: string) => string;

const plain: PaintLine = (line) => line;

/** Rows that stay free under what grows: for what is typed. */
const spareRows = 3;

/**
 * A terminal with one text on it that grows, the *block*, above the row that a person types into. The block is redrawn in
 * place; what is typed stays where it is, also half a line of it. What is printed meanwhile appears above the block.
 *
 * The cursor is where the person types, and nobody can ask for its place: all moves are relative to it, and it is put back.
 *
 * @example
 * const screen = new TerminalScreen(terminal);
 * await screen.show('Lim');
 * await screen.print('a line above it\n');
 * await screen.finish('Lima.');
 */
export class TerminalScreen {
  readonly #terminal: Terminal;
  /** The rows of the block as they are shown, painted. */
  #shown: readonly string[] = [];
  /** Rows of lines that were typed since the block began: they stand between it and the cursor. */
  #typed = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Prints a text that ends with a line end, above what grows. */
  print(text: string, paint: PaintLine = plain): Promise<void> {
    this.#leaveBehind(this.#size().rows);
    if (this.#shown.length === 0)
      return this.#write(text.replace(/[^\n]+/g, (line) => paint(line)));
    const shown = this.#shown;
    const around = [this.#resize(0), this.#lines(text.replace(/\n$/, ''), paint)];
    return this.#write(around.join('') + this.#replace(shown));
  }

  /** Shows the text of the block now; of a block that is higher than the screen, its end. */
  show(text: string, paint: PaintLine = plain): Promise<void> {
    const { columns, rows } = this.#size();
    this.#leaveBehind(rows);
    const most = Math.max(1, rows - spareRows - this.#typed);
    return this.#write(this.#replace(lastScreenRows(text, columns, most).map(paint)));
  }

  /** Ends the block: its whole text stays on the screen. */
  finish(text: string, paint: PaintLine = plain): Promise<void> {
    this.#leaveBehind(this.#size().rows);
    if (this.#shown.length === 0) return this.print(`${text}\n`, paint);
    const written = this.#isShown(text, paint) ? '' : this.#resize(0) + this.#lines(text, paint);
    this.#shown = [];
    this.#typed = 0;
    return this.#write(written);
  }

  /** Takes the block away. */
  remove(): Promise<void> {
    this.#leaveBehind(this.#size().rows);
    if (this.#shown.length === 0) return Promise.resolve();
    const written = this.#resize(0);
    this.#typed = 0;
    return this.#write(written);
  }

  /** Says that a line was typed: the terminal has shown it itself, and the cursor is under it. */
  typed(line: string): void {
    if (this.#shown.length > 0) this.#typed += screenRows(line, this.#size().columns).length;
  }

  /** Returns whether a text is shown as it is to stay: no row of it is a part of a line. */
  #isShown(text: string, paint: PaintLine): boolean {
    const lines = text.split('\n');
    const { columns } = this.#size();
    return (
      lines.length === this.#shown.length &&
      lines.every((line, at) => {
        const [row = '', more] = screenRows(line, columns);
        return more === undefined && paint(row) === this.#shown[at];
      })
    );
  }

  /** A block that was pushed off the screen by what was typed is out of reach: it stays, and another begins. */
  #leaveBehind(rows: number): void {
    if (this.#shown.length + this.#typed < rows) return;
    this.#shown = [];
    this.#typed = 0;
  }

  /** Makes the rows of the block these. */
  #replace(rows: readonly string[]): string {
    const before = this.#shown;
    let written = this.#resize(rows.length);
    for (const [at, row] of rows.entries())
      if (row !== before[at] || before.length !== rows.length)
        written += this.#at(rows.length - at, `${eraseRow}${row}`);
    this.#shown = rows;
    return written;
  }

  /** Gives the block so many rows, by adding empty ones at its end or taking away those there. */
  #resize(count: number): string {
    const change = count - this.#shown.length;
    this.#shown = this.#shown.slice(0, count);
    if (change > 0) return this.#insert(change);
    if (change === 0) return '';
    return `${save}\r${up(this.#typed - change)}${csi}${-change}M${restore}${up(-change)}`;
  }

  /** Writes lines where the block would be, whole: the terminal breaks those that are too long. */
  #lines(text: string, paint: PaintLine): string {
    const { columns, rows } = this.#size();
    const most = Math.max(1, rows - spareRows - this.#typed);
    let written = '';
    for (const line of text.split('\n')) {
      const broken = screenRows(line, columns);
      for (let from = 0; from < broken.length; from += most) {
        const part = broken.slice(from, from + most);
        written += this.#insert(part.length) + this.#at(part.length, paint(part.join('')));
      }
    }
    return written;
  }

  /** Inserts empty rows under the block: makes room at the bottom, and pushes down what is typed. */
  #insert(count: number): string {
    const room = `${index.repeat(count)}${up(count)}`;
    return `${room}${save}\r${up(this.#typed)}${csi}${count}L${restore}${csi}${count}B`;
  }

  /** Writes a text so many rows above what was typed. */
  #at(rowsAbove: number, text: string): string {
    return `${save}\r${up(this.#typed + rowsAbove)}${text}${restore}`;
  }

  async #write(text: string): Promise<void> {
    if (text !== '') await this.#terminal.write(text);
  }

  #size(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = this.#terminal.size();
    return { columns: Math.max(2, columns || 80), rows: Math.max(2, rows || 24) };
  }
}

const csi = '\u001b[';
const save = '\u001b7';
const restore = '\u001b8';
/** Moves down one row; at the last one the screen scrolls. */
const index = '\u001bD';
/** Before a row is written: after a full one the cursor is still on its last character. */
const eraseRow = `${csi}2K`;

function up(count: number): string {
  return count > 0 ? `${csi}${count}A` : '';
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const tab = '    ';
/** The escapes that colour a text: they take no place. */
const colour = /(\p{Cc}\[[\d;]*m)/u;

/**
 * Cuts a text into the rows of a terminal, as the terminal itself does: at line ends, and before a character that does not
 * fit. A wide character takes two columns, a character that joins the one before it none; a tab becomes four spaces.
 */
export function screenRows(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => lineRows(line, columns));
}

/** Cuts the end of a text into rows, at the cost of those rows alone. */
export function lastScreenRows(text: string, columns: number, count: number): string[] {
  const enough = columns * count * 2; // code units; a row that is cut off at its front is one of those that are left out
  const cut = text.length <= enough ? text : text.slice(-enough).replace(/^[\uDC00-\uDFFF]/, '');
  return screenRows(cut, columns).slice(-count);
}

function lineRows(line: string, columns: number): string[] {
  const spaced = line.replaceAll('\t', tab);
  if (spaced.length <= columns && /^[ -~]*$/.test(spaced)) return [spaced];
  const rows: string[] = [];
  let row = '';
  let used = 0;
  const take = (segment: string, width: number): void => {
    if (used + width > columns && row !== '') {
      rows.push(row);
      row = '';
      used = 0;
    }
    row += segment;
    used += width;
  };
  for (const part of spaced.split(colour))
    if (colour.test(part)) take(part, 0);
    else for (const { segment } of graphemes.segment(part)) take(segment, stringWidth(segment));
  return [...rows, row];
}
