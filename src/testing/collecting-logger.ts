import { type Logger, loggerWith } from 'sluice-kernel/internal';

/** One thing that was logged. */
export interface LogEntry {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is given. */
export interface CollectingLogger extends Logger {
  /** Everything so far, in order. */
  readonly entries: readonly LogEntry[];
  /** The messages so far, of one level or of all. */
  messages(level?: keyof Logger): readonly string[];
}

/** Prints an error that was logged, with its text, stack and causes: the author of a test is to see why something failed. */
export function printError({ level, message, fields }: LogEntry): void {
  const { error, cause, detail } = fields;
  const told = [error, cause, detail].filter((one) => one !== undefined);
  if (level === 'error') console.error(`sluice: error: ${message}`, ...told);
}

/**
 * Makes a logger that keeps what it is given, for a test to read.
 *
 * @param onEntry is told of each entry.
 * @example
 * const logger = collectingLogger();
 * await loadExtension(kernel, extension, { logger });
 * expect(logger.messages('error')).toEqual([]);
 */
export function collectingLogger(onEntry?: (entry: LogEntry) => void): CollectingLogger {
  const entries: LogEntry[] = [];
  return {
    ...loggerWith((level, message, fields = {}) => {
      entries.push({ level, message, fields });
      onEntry?.({ level, message, fields });
    }),
    entries,
    messages: (level) =>
      entries
        .filter((entry) => level === undefined || entry.level === level)
        .map((entry) => entry.message),
  };
}
