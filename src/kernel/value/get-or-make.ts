/** The part of a `Map` or a `WeakMap` that finding and keeping needs. */
interface Kept<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/**
 * Returns the value of a key. If there is none, makes one and keeps it.
 *
 * @example
 * const lane = getOrMake(lanes, 'console:ada', () => ({ jobs: 0 }));
 */
export function getOrMake<Key, Value extends object>(
  map: Kept<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
