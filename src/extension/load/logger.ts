import { type Logger, loggerWith } from '../../kernel/index.js';

/** Makes a logger that writes the id of an extension with every entry. */
export function loggerOf(logger: Logger, extensionId: string): Logger {
  return loggerWith((level, message, fields) => logger[level](message, { extensionId, ...fields }));
}
