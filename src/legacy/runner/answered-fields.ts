import { withoutLive } from '../hooks/plain-records.js';
import { type Fields, isFields, type LegacyHookRow } from '../hooks/row.js';

/**
 * What a handler returned, each field read once; `undefined` where it is no object. Live objects that its event holds
 * already are left out of what it hands back: plugins write `{ params: { ...event.params, path } }`.
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

/** Whether an object is of no class: its own fields are then all that it says. */
function isBare(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
