import { errorSummary } from './error-summary.js';

/** The fields of a log entry that may hold words of somebody else: a thrown error, and a text such as a reason. */
const privateNames = new Set(['error', 'cause', 'detail']);

/** Returns the fields that a log may hold at every level: errors summed up, texts of others left out (spec §20.3). */
export function publicFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields))
    if (!privateNames.has(name)) shown[name] = value;
    else if (value instanceof Error) shown[name] = errorSummary(value);
  return shown;
}

/** Returns all fields for level `debug`: errors with their text, and the place that they come from. */
export function allFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? wholeError(value, 0) : value,
    ]),
  );
}

/** The depth of causes that are shown: an error that is its own cause would never end. */
const deepestCause = 4;

function wholeError(error: Error, depth: number): Record<string, unknown> {
  const cause = depth < deepestCause ? causeOf(error) : undefined;
  return {
    ...errorSummary(error),
    message: textOf(error),
    ...(cause !== undefined && { cause: wholeError(cause, depth + 1) }),
  };
}

function causeOf(error: Error): Error | undefined {
  try {
    return error.cause instanceof Error ? error.cause : undefined;
  } catch {
    return undefined; // it does not want to be read
  }
}

function textOf(error: Error): string {
  try {
    return String(error.message);
  } catch {
    return 'a message that cannot be read';
  }
}
