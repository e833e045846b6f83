import type { ExpectedValue, KeptValue, KeyValueQuota } from './key-values.js';

/** Bytes that a value takes of the quota of its namespace: its key and its body, in UTF-8. */
export function bytesOf({ key, body }: { readonly key: string; readonly body: string }): number {
  return Buffer.byteLength(key) + Buffer.byteLength(body);
}

/** Returns whether a namespace of some size is within its quota, if it has one. */
export function fits(
  { keys, bytes }: { readonly keys: number; readonly bytes: number },
  quota: KeyValueQuota | undefined,
): boolean {
  return quota === undefined || (keys <= quota.maxKeys && bytes <= quota.maxBytes);
}

/** Compares keys as the database does: by their bytes in UTF-8, which is by code point. */
export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Returns whether a value is there as it was expected to be. */
export function isAsExpected(
  was: Pick<KeptValue, 'body' | 'version'> | undefined,
  expected: ExpectedValue | undefined,
): boolean {
  if (expected === undefined) return true;
  if (expected === null || typeof expected === 'string') return (was?.version ?? null) === expected;
  return was?.body === expected.body;
}
