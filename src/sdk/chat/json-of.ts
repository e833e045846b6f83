/**
 * Reads JSON. What is none is nothing.
 *
 * @example
 * const update = jsonOf(body.toString('utf8'));
 */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
