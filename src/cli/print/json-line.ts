import { inertJson, type Outcome, oneLine } from 'sluice-kernel/internal';

/**
 * Writes a value as one line of JSON that does nothing to a terminal. A bigint, which JSON does not have, becomes a text of its
 * digits. A value that cannot be written at all, such as a cyclic raw update, becomes an object with the reason.
 */
export function jsonLine(value: unknown): string {
  const written = jsonOf(value);
  return 'json' in written ? written.json : JSON.stringify({ unprintable: written.problem });
}

/**
 * Writes a dispatch as one line of JSON: its outcome as data. A part that cannot be written, such as a payload with a cycle, is
 * null, and `unprintable` has the reason under the place of the part.
 *
 * @example
 * outcomeLine(outcome); // '{"status":"passed","event":{...,"payload":null},...,"unprintable":{"event.payload":"TypeError: ..."}}'
 */
export function outcomeLine(outcome: Pick<Outcome, 'toJSON' | 'event'>): string {
  const whole = outcome.toJSON();
  const written = jsonOf(whole);
  if ('json' in written) return written.json;
  const unprintable: Record<string, string> = {};
  const writable = (part: object, place: string): object =>
    Object.fromEntries(
      Object.entries(part).map(([key, value]): [string, unknown] => {
        const of = jsonOf(value);
        if ('json' in of) return [key, value];
        unprintable[`${place}${key}`] = of.problem;
        return [key, null];
      }),
    );
  const event = writable(outcome.event, 'event.');
  return jsonLine({ ...writable({ ...whole, event: undefined }, ''), event, unprintable });
}

function jsonOf(value: unknown): { readonly json: string } | { readonly problem: string } {
  try {
    return {
      json: inertJson(
        JSON.stringify(value, (_key, field: unknown) =>
          typeof field === 'bigint' ? String(field) : field,
        ),
      ),
    };
  } catch (thrown) {
    return { problem: oneLine(thrown) };
  }
}
