import type { Shell } from '../shell/shell.js';
import { jsonLine } from './json-line.js';
import { type Layout, layoutOf } from './layout.js';

/** Prints data: a line of JSON for each part if `--json` asks for that, and else the lines for people. */
export function printData(
  shell: Pick<Shell, 'stdout' | 'palettes' | 'width'>,
  { json }: { readonly json?: boolean },
  data: readonly unknown[],
  view: (layout: Layout) => readonly string[],
): void {
  const lines = json === true ? data.map(jsonLine) : view(layoutOf(shell, shell.palettes.stdout));
  shell.stdout.lines(lines);
}
