/** The knowledge of a session of the SDK, when a turn in it has ended. Numbers count the prompts of our session, from 1. */
export interface KnownSession {
  /** The SDK's id of it. */
  readonly session: string;
  /** The last prompt that it was asked. */
  readonly heard: number;
  /** The SDK has written the turn of that prompt down. */
  readonly isWhole: boolean;
  /** The places from which the session can go on: the last message of a turn that ended well. Oldest first, two at most. */
  readonly points: readonly SessionPoint[];
}

interface SessionPoint {
  readonly uuid: string;
  /** The last prompt before it. */
  readonly heard: number;
}

/** A known session as one text, for `keepSession` of a request. */
export function tokenOf({ session, heard, isWhole, points }: KnownSession): string {
  return JSON.stringify({ session, heard, isWhole, points });
}

/** Reads a token back. One that is not understood, such as one of another version, is none. */
export function readToken(token: string | undefined): KnownSession | undefined {
  if (token === undefined) return undefined;
  const { session, heard, isWhole, points } = fieldsOf(token);
  if (typeof session !== 'string' || typeof heard !== 'number' || !Array.isArray(points))
    return undefined;
  return { session, heard, isWhole: isWhole === true, points: points.filter(isPoint) };
}

function fieldsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(token));
  } catch {
    return {};
  }
}

function isPoint(value: unknown): value is SessionPoint {
  const { uuid, heard } = Object(value);
  return typeof uuid === 'string' && typeof heard === 'number';
}
