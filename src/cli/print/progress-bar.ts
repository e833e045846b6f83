import { type Clock, systemClock } from 'sluice-kernel';
import type { Shell } from '../shell/shell.js';
import { span } from '../shell/text.js';

/** Milliseconds before a bar is drawn, and between two of its drawings. */
const quietMs = 2_000;
const redrawMs = 250;

const width = 24;

/**
 * Shows on stderr how far some work has come, if it takes more than two seconds and a person looks: a terminal, and no `--json`. The
 * line is gone when the work has ended.
 *
 * @param work may clear the line before it prints.
 * @param measure gives the part that is done, from 0 to 1; `undefined` if nobody knows.
 * @example
 * await withProgress(shell, options, 'copying', () => copy(signal), () => sizeOf(part) / sizeOf(file));
 */
export async function withProgress<T>(
  { stderr, isTerminal }: Pick<Shell, 'stderr' | 'isTerminal'>,
  { json = false }: { readonly json?: boolean },
  what: string,
  work: (clear: () => void) => Promise<T>,
  measure: () => number | undefined = () => undefined,
  clock: Clock = systemClock,
): Promise<T> {
  if (!isTerminal.stderr || json) return work(() => undefined);
  const fromMs = clock.monotonicMs();
  let isDrawn = false;
  const write = (text: string): void => void stderr.write(text).catch(() => undefined); // nobody looks any more
  const draw = (): void => {
    isDrawn = true;
    write(`\r\x1b[2K${barOf(what, measure(), clock.monotonicMs() - fromMs)}`);
    timer = clock.setTimeout(draw, redrawMs);
  };
  const clear = (): void => {
    if (isDrawn) write('\r\x1b[2K');
  };
  let timer = clock.setTimeout(draw, quietMs);
  try {
    return await work(clear);
  } finally {
    clock.clearTimeout(timer);
    clear();
  }
}

function barOf(what: string, part: number | undefined, ms: number): string {
  const time = span(ms);
  if (part === undefined || !Number.isFinite(part)) return `${what}, ${time}`;
  const done = Math.min(1, Math.max(0, part));
  const full = Math.round(done * width);
  const percent = `${Math.floor(done * 100)} %`.padStart(5);
  return `${what} [${'#'.repeat(full)}${'.'.repeat(width - full)}] ${percent}, ${time}`;
}
