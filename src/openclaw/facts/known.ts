/** The fields of an event that a legacy host filled in. */
type Known<T> = { [K in keyof T as undefined extends T[K] ? never : K]: Exclude<T[K], null> } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined | null>;
};

/**
 * A copy without the fields that are `undefined` or `null`: legacy hosts write either where they know nothing, and a
 * payload leaves such a field out.
 *
 * @example
 * known({ channel: 'slack', accountId: null }); // { channel: 'slack' }
 */
export function known<T extends object>(fields: T): Known<T> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value: unknown = fields[key as keyof T];
    if (value !== undefined && value !== null) copy[key] = value;
  }
  return copy as Known<T>; // exactly the fields that have a value
}

/** A whole number from 0 up, of what a source counted; `undefined` where it did not know: some write -1, or NaN. */
export function knownCount(count: unknown): number | undefined {
  const amount = knownAmount(count);
  return amount === undefined ? undefined : Math.round(amount);
}

/** A span or a moment, of what a source measured; `undefined` where that is none: a clock can step back. */
function knownAmount(amount: unknown): number | undefined {
  return typeof amount === 'number' && amount >= 0 && amount < Number.POSITIVE_INFINITY
    ? amount
    : undefined;
}

/** A count in a field of a payload, as a field of a record (field-table.ts). */
export function counted<const To extends string>(to: To) {
  const show = (payload: { readonly [Name in To]?: number }): number | undefined => payload[to];
  return { to, read: knownCount, show };
}

/** A span or a moment in a field of a payload, as a field of a record. */
export function measured<const To extends string>(to: To) {
  return { ...counted(to), read: knownAmount };
}
