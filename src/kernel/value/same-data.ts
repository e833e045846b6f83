/**
 * Returns whether two values are the same plain data: equal primitives (by `Object.is`), or objects with the same keys whose
 * values are the same data. Iterative, and at home with cycles.
 */
export function sameData(left: unknown, right: unknown): boolean {
  const met = new Map<object, object>();
  const open: [unknown, unknown][] = [[left, right]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [one, other] = pair;
    if (Object.is(one, other)) continue;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
      return false;
    if (met.get(one) === other) continue;
    met.set(one, other);
    if (Array.isArray(one) !== Array.isArray(other)) return false;
    const keys = Object.keys(one);
    if (keys.length !== Object.keys(other).length || lengthOf(one) !== lengthOf(other))
      return false;
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false;
      open.push([valueAt(one, key), valueAt(other, key)]);
    }
  }
  return true;
}

function lengthOf(value: object): number {
  return Array.isArray(value) ? value.length : 0;
}

function valueAt(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}
