import type { KeptValue, KeyValues, NewValue } from './key-values.js';

/** A value that is to be changed, and how it is written. */
export type ChangedAt = Omit<Parameters<KeyValues['write']>[3], 'expected'> & {
  readonly values: Pick<KeyValues, 'get' | 'write'>;
  readonly namespace: string;
  readonly key: string;
};

type Next = NewValue | null | undefined;

/**
 * Changes a value in one step with the look at it. If it is in conflict, somebody else has come through, so among all that change a value
 * one always does.
 *
 * @param next makes the new value of the one that is there; `null` deletes it, and nothing leaves it as it is.
 * @returns the value that was there, the new one, and the result of its write; no result if it was left.
 * @throws as `next` and the key-values do.
 */
export async function changeValue(
  { values, namespace, key, ...given }: ChangedAt,
  next: (was: KeptValue | undefined) => Next | Promise<Next>,
) {
  for (;;) {
    const was = await values.get(namespace, key);
    const value = await next(was);
    if (value === undefined) return { was };
    const expected = was?.version ?? null;
    const result = await values.write(namespace, key, value ?? undefined, { ...given, expected });
    if (result.status !== 'conflict') return { result, was, value };
  }
}
