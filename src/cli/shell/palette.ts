import { styleText } from 'node:util';

type Paint = (text: string) => string;

/** How output is painted: by what a text is, not by a colour. */
export interface Palette {
  /** What is as it should be. */
  readonly plain: Paint;
  /** What matters least. */
  readonly quiet: Paint;
  /** Headings and totals. */
  readonly strong: Paint;
  /** Something was changed or chosen. */
  readonly changed: Paint;
  /** Something was cancelled, skipped or deprecated. */
  readonly warning: Paint;
  /** Something failed. */
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

/** The palette for a stream: colours on a terminal only, and none where NO_COLOR is set or TERM is `dumb`. */
export function paletteFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  const wanted = stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return wanted ? colourPalette : plainPalette;
}

/** Node would ask stdout whether it is a terminal; the stream in question may be stderr, and has been asked. */
function painted(format: 'dim' | 'bold' | 'cyan' | 'yellow' | 'red'): Paint {
  return (text) => styleText(format, text, { validateStream: false });
}
