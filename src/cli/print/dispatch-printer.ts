import type { Tap } from '../../kernel/index.js';
import type { Shell } from '../shell/shell.js';
import { DispatchLines } from './dispatch-lines.js';
import { outcomeLine } from './json-line.js';
import { layoutOf } from './layout.js';

/** Prints dispatches while they come. */
export interface DispatchPrinter {
  readonly tap: Tap;
  /** Prints the lines that were kept back. */
  finish(): void;
}

/** Prints a line of JSON per dispatch: its outcome as data. */
export function jsonPrinter({ stdout }: Pick<Shell, 'stdout'>): DispatchPrinter {
  return {
    tap: { outcome: (outcome) => stdout.lines([outcomeLine(outcome)]) },
    finish: () => undefined,
  };
}

/** Prints dispatches for people. */
export function linePrinter(shell: Pick<Shell, 'stdout' | 'palettes' | 'width'>): DispatchPrinter {
  const { stdout } = shell;
  const lines = new DispatchLines(layoutOf(shell, shell.palettes.stdout));
  return {
    tap: { outcome: (outcome) => stdout.lines(lines.add(outcome)) },
    finish: () => stdout.lines(lines.flush()),
  };
}
