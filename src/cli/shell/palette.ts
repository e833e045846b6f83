import { styleText } from 'node:util';

type Paint = (text: string) => string;

/** The paints of output, by the meaning of a text and not by a colour. */
export interface Palette {
  /** Ordinary text. */
  readonly plain: Paint;
  /** The least important text. */
  readonly quiet: Paint;
  /** Headings and totals. */
  readonly strong: Paint;
  /** A change or a choice. */
  readonly changed: Paint;
  /** Something that was cancelled, skipped or is deprecated. */
  readonly warning: Paint;
  /** A failure. */
  readonly failure: Paint;
}

const same: Paint = (text) => text;

/** The palette of a pipe, a file, and a person who set NO_COLOR. */
export const plainPalette: Palette = {
  plain: same,
  quiet: same,
  strong: same,
  changed: same,
  warning: same,
  failure: same,
};

const colourPalette: Palette = {
  plain: same,
  quiet: painted('dim'),
  strong: painted('bold'),
  changed: painted('cyan'),
  warning: painted('yellow'),
  failure: painted('red'),
};

/** Chooses the palette for a stream: colours on a terminal only, and none if NO_COLOR is set or TERM is `dumb`. */
export function paletteFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  const wanted = stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return wanted ? colourPalette : plainPalette;
}

/** Makes a paint. Node would look whether stdout is a terminal; the stream may be stderr, and was looked at before. */
function painted(format: 'dim' | 'bold' | 'cyan' | 'yellow' | 'red'): Paint {
  return (text) => styleText(format, text, { validateStream: false });
}
