import { copyPlain, type Fields, isFields } from 'sluice-kernel/internal';

/** The open records of legacy events: what is in them is anybody's. */
const records = ['metadata', 'params'] as const;

/**
 * A payload whose records hold plain data only. Legacy hosts put live objects there now and then; handlers of the
 * legacy hook still get those, canonical ones do not see them.
 */
export function plainRecords(payload: object): object {
  let result = payload as Record<string, unknown>; // a payload that a row has just made
  for (const name of records) {
    const record = result[name];
    if (!isFields(record)) continue;
    const odd = Object.keys(record).filter((key) => !isPlainValue(record[key]));
    if (odd.length === 0) continue;
    const kept = Object.entries(record).filter(([key]) => !odd.includes(key));
    result = { ...result, [name]: Object.fromEntries(kept) };
  }
  return result;
}

/** Fields without the live objects that others hold already: handing one back says nothing new. */
export function withoutLive(fields: Fields, held: unknown): Fields {
  if (!isFields(held)) return fields;
  const live = Object.keys(fields).filter(
    (key) => fields[key] === held[key] && !isPlainValue(fields[key]),
  );
  if (live.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !live.includes(key)));
}

/** Returns whether a value is plain data, which a payload or a patch can hold. */
export function isPlainValue(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false;
  return typeof value !== 'object' || value === null || 'copy' in copyPlain(value);
}
