/**
 * A value as one line of JSON. What JSON cannot say is said as text: a bigint by its digits. A value that cannot
 * be written at all, such as a cyclic raw update, becomes an object that says why.
 */
export function jsonLine(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, field: unknown) =>
      typeof field === 'bigint' ? String(field) : field,
    );
  } catch (thrown) {
    return JSON.stringify({ unprintable: String(thrown).split('\n')[0] });
  }
}
