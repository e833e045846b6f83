import { pino } from 'pino';
import { inertJson, type Logger } from '../../kernel/index.js';
import { allFields, publicFields } from './public-fields.js';
import { withoutSecrets } from './without-secrets.js';

/** The levels of a log, from the least important up. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Where a log goes, and what is in it. */
export interface PinoLoggerOptions {
  /** From which level on; `info` where unsaid. At `debug`, and only there, texts of messages and errors are in it. */
  readonly level?: LogLevel;
  /** Takes one line, which ends with a line feed. */
  readonly write: (line: string) => void;
  /** Texts that are in no line, at no level: what came from the environment, say. */
  readonly secrets?: readonly string[];
}

/**
 * A logger that writes lines of JSON, as pino does: `level`, `time`, `msg`, and the fields of the entry, such as
 * `extensionId`, `family`, `sessionId`, `eventId` (spec §20.3).
 *
 * @example
 * const logger = pinoLogger({ write: (line) => process.stderr.write(line) });
 * const host = createHost({ agents, channels, logger });
 */
export function pinoLogger({ level = 'info', write, secrets = [] }: PinoLoggerOptions): Logger {
  const clean = withoutSecrets(secrets);
  const log = pino(
    { level, base: null, formatters: { level: (label) => ({ level: label }) } },
    { write: (line: string) => write(inertJson(clean(line))) },
  );
  const fieldsFor = level === 'debug' ? allFields : publicFields;
  const entry =
    (at: LogLevel): Logger['info'] =>
    (message, fields = {}) => {
      if (log.isLevelEnabled(at)) log[at](fieldsFor(fields), message);
    };
  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
}
