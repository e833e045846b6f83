import { both, type Scrub, withoutSecrets } from '@sluice/journal/internal';
import { pino } from 'pino';
import { inertJson, type Logger, loggerWith } from 'sluice-kernel/internal';
import { allFields, publicFields } from './public-fields.js';

/** The levels of a log, from the least important up. */
export type LogLevel = keyof Logger;

/** The options of a log in JSON. */
export interface PinoLoggerOptions {
  /** The lowest level that is written, by default `info`. Texts of messages and errors are written at `debug` alone. */
  readonly level?: LogLevel;
  /** Takes one line, which ends with a line feed. */
  readonly write: (line: string) => void;
  /** Texts that no line holds at any level, such as a token from the environment. */
  readonly secrets?: readonly string[];
  /** Cleans texts that are kept for reading (durability §13): see `scrubber`. */
  readonly scrub?: Scrub | undefined;
}

/**
 * Makes a logger that writes lines of JSON, as pino does: `level`, `time`, `msg`, and the fields of the entry, such as
 * `extensionId`, `family`, `sessionId`, `eventId` (spec §20.3).
 *
 * @example
 * const logger = pinoLogger({ write: (line) => process.stderr.write(line) });
 * const host = createHost({ agents, channels, logger });
 */
export function pinoLogger({
  level = 'info',
  write,
  secrets = [],
  scrub,
}: PinoLoggerOptions): Logger {
  const clean = both(withoutSecrets(secrets), scrub);
  const log = pino(
    { level, base: null, formatters: { level: (label) => ({ level: label }) } },
    { write: (line: string) => write(inertJson(clean(line))) },
  );
  const fieldsFor = level === 'debug' ? allFields : publicFields;
  return loggerWith((at, message, fields = {}) => {
    if (log.isLevelEnabled(at)) log[at](fieldsFor(fields), message);
  });
}
