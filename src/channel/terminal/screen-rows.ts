import stringWidth from 'string-width';

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
