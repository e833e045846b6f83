import { hash, randomUUID } from 'node:crypto';

/**
 * Makes the id of the event that an update begins: the same each time that its provider brings it, also after a restart. An
 * update without an id from its provider is a new one each time.
 *
 * @example
 * eventIdOf('telegram', 'main', '4711'); // 'u-53d0...'
 */
export function eventIdOf(
  channel: string,
  accountId: string,
  updateId: string | undefined,
): string {
  if (updateId === undefined) return randomId('u');
  return `u-${digestOf([channel, accountId, updateId])}`.normalize();
}

/**
 * Makes an id that no other has. Node joins a UUID from twenty pieces, and V8 keeps each of them as long as the text: 490 bytes.
 * `normalize` makes one text of them, with 70.
 */
export function randomId(kind: string): string {
  return `${kind}-${randomUUID()}`.normalize();
}

/** Makes a short name for plain data: different data has a different name. */
export function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex').slice(0, 32);
}
