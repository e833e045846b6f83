import { type Fields, isFields } from '../../kernel/index.js';
import { withoutLive } from '../hooks/plain-records.js';
import type { LegacyHookRow } from '../hooks/row.js';

/**
 * Reads a handler's result, each field once; `undefined` if it is no object. Live objects that the event holds already
 * are left out: plugins return `{ params: { ...event.params, path } }`.
 *
 * @throws what an accessor of it throws.
 */
export function answeredFields(
  result: unknown,
  { honoursInPlace }: Pick<LegacyHookRow, 'honoursInPlace'>,
  event: object,
): Fields | undefined {
  if (!isFields(result)) return undefined;
  const value = isBare(result) ? { ...result } : result;
  if (honoursInPlace === undefined) return value;
  const record = value[honoursInPlace];
  if (!isFields(record)) return value;
  return { ...value, [honoursInPlace]: withoutLive(record, (event as Fields)[honoursInPlace]) };
}

/** Tells whether an object has no class: its own fields are then its whole content. */
function isBare(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
