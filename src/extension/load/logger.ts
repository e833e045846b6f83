import type { Logger } from '../../kernel/index.js';

/** A logger that writes an extension's id with every entry. */
export function loggerOf(logger: Logger, extensionId: string): Logger {
  return {
    debug: (message, fields) => logger.debug(message, { extensionId, ...fields }),
    info: (message, fields) => logger.info(message, { extensionId, ...fields }),
    warn: (message, fields) => logger.warn(message, { extensionId, ...fields }),
    error: (message, fields) => logger.error(message, { extensionId, ...fields }),
  };
}
