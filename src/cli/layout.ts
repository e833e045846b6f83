import type { Palette } from './palette.js';
import { wrap } from './text.js';

/** How lines are laid out. */
export interface Layout {
  readonly palette: Palette;
  /** Characters in a line. */
  readonly width: number;
}

/** Characters in a line where no terminal says otherwise. */
export const defaultWidth = 80;

/** A text as lines of a width: indented, wrapped, and painted. The lines after the first are indented further. */
export function laidOut(
  text: string,
  indent: number,
  paint: (text: string) => string,
  width: number,
): string[] {
  return wrap(text, Math.max(20, width - indent - 2)).map((line, at) =>
    at === 0 ? `${' '.repeat(indent)}${paint(line)}` : `${' '.repeat(indent + 2)}${paint(line)}`,
  );
}
