/**
 * Writes plain data as canonical JSON (RFC 8785): the same data give the same text, whatever the order of their keys.
 *
 * @throws TypeError for a number that JSON has not.
 * @example
 * canonicalJson({ b: [1.0, null], a: 'é' }); // '{"a":"é","b":[1,null]}'
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${value} is no number of JSON`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  members.sort(([one], [other]) => (one < other ? -1 : 1)); // by UTF-16 units, as the RFC has it
  return `{${members.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(',')}}`;
}
