import { type Logger, loggerWith } from '../kernel/index.js';

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

/**
 * Makes a logger that keeps what it is given, for a test to read.
 *
 * @example
 * const logger = collectingLogger();
 * await loadExtension(kernel, extension, { logger });
 * expect(logger.messages('error')).toEqual([]);
 */
export function collectingLogger(): CollectingLogger {
  const entries: LogEntry[] = [];
  return {
    ...loggerWith((level, message, fields = {}) => void entries.push({ level, message, fields })),
    entries,
    messages: (level) =>
      entries
        .filter((entry) => level === undefined || entry.level === level)
        .map((entry) => entry.message),
  };
}
