import { createHash, randomUUID } from 'node:crypto';

/**
 * The id of the event that an update begins: the same each time that its provider brings it, also after a restart. An
 * update without an id of its provider's is a new one each time.
 *
 * @example
 * eventIdOf('telegram', 'main', '4711'); // 'u-53d0...'
 */
export function eventIdOf(
  channel: string,
  accountId: string,
  updateId: string | undefined,
): string {
  if (updateId === undefined) return `u-${randomUUID()}`;
  return `u-${digestOf([channel, accountId, updateId])}`;
}

/** A short name for plain data: different data has a different one. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
