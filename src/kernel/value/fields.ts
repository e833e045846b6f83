/** An object whose fields nobody has checked. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object with fields, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a value from outside; none where it is no object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
