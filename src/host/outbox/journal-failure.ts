import { isSluiceError, type Logger } from '../../kernel/index.js';
import { isOfOneRow } from '../journal/rows/table-rows.js';

/**
 * Logs that the journal failed a write. The loss of the whole journal is told once, by the watch over it: what fails
 * because of that is at level `debug`.
 */
export function logJournalFailure(
  logger: Logger,
  message: string,
  fields: Readonly<Record<string, unknown>> & { readonly error: unknown },
): void {
  const { error } = fields;
  const isLost = isSluiceError(error, 'journal-lost');
  logger[isLost ? 'debug' : 'error'](message, fields);
}

/** Tells whether a call that the journal has failed may go well later. A row that is damaged stays so. */
export function mayPass(error: unknown): boolean {
  return isSluiceError(error) && !isOfOneRow(error);
}
