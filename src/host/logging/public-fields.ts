import { errorSummary } from './error-summary.js';

/** The fields of a log entry that may hold what somebody else wrote: a thrown error, and a text such as a reason. */
const privateNames = new Set(['error', 'cause', 'detail']);

/** The fields that a log may hold at every level: errors summed up, texts of others left out (spec §20.3). */
export function publicFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields))
    if (!privateNames.has(name)) shown[name] = value;
    else if (value instanceof Error) shown[name] = errorSummary(value);
  return shown;
}

/** All the fields, for level `debug`: errors with their text, and where they come from. */
export function allFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? { ...errorSummary(value), message: textOf(value) } : value,
    ]),
  );
}

function textOf(error: Error): string {
  try {
    return String(error.message);
  } catch {
    return 'a message that cannot be read';
  }
}
