import type { Logger } from '../kernel/index.js';
import { jsonLine } from './json-line.js';
import type { Output } from './output.js';
import { printable } from './text.js';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** The levels of a log, from the least important up. */
export type LogLevel = (typeof levels)[number];

/**
 * A logger that writes one line per entry, from a level up. Fields are shown at level `debug` only.
 *
 * @param muted once aborted, nothing is written: where the reader of the output is gone, what fails is only that.
 */
export function lineLogger(output: Output, from: LogLevel, muted: AbortSignal): Logger {
  const entry =
    (level: LogLevel): Logger['warn'] =>
    (message, fields) => {
      if (muted.aborted || levels.indexOf(level) < levels.indexOf(from)) return;
      const extra = from === 'debug' && fields !== undefined ? ` ${jsonLine(fields)}` : '';
      output.lines([printable(`sluice: ${level}: ${message}${extra}`)]);
    };
  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
}
