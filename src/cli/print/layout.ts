import type { Palette } from '../shell/palette.js';
import { wrap } from '../shell/text.js';

/** The layout of lines. */
export interface Layout {
  readonly palette: Palette;
  /** Characters in a line, as the terminal is now. */
  readonly width: number;
}

/** Makes the layout of a shell: as wide as its terminal is when a line is laid out. */
export function layoutOf(shell: { readonly width: number }, palette: Palette): Layout {
  return {
    palette,
    get width() {
      return shell.width;
    },
  };
}

/** The characters in a line without a terminal. */
export const defaultWidth = 80;

/** Lays a text out as lines of a width: indented, wrapped, and painted. The lines after the first are indented further. */
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
