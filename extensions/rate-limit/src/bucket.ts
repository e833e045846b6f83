import type { Limit } from './config.js';

/** How many of the messages that it has counted a bucket knows again. */
const knownMessages = 16;

/**
 * A token bucket as it is kept. A message adds `windowMs` to the debt, a millisecond pays `count` of it, and `count`
 * messages are the most debt that there may be. So every figure is a whole number.
 */
export interface Bucket {
  readonly debt: number;
  /** The time of the debt, in milliseconds since 1970. */
  readonly atMs: number;
  /** The last messages that it has counted, newest last. */
  readonly counted: readonly string[];
}

/** A message that a bucket judges. */
export interface Arrival {
  readonly messageId: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** Tells how many milliseconds a message has to wait for a token: 0 if there is one, or if the message was counted. */
export function waitMs(bucket: Bucket | undefined, limit: Limit, arrival: Arrival): number {
  if (bucket?.counted.includes(arrival.messageId) === true) return 0;
  const tooMuch = debtAt(bucket, limit, arrival.atMs) - (limit.count - 1) * limit.windowMs;
  return Math.max(0, Math.ceil(tooMuch / limit.count));
}

/** Takes the token of a message. @returns the bucket after it; nothing if the message was counted before. */
export function countIn(
  bucket: Bucket | undefined,
  limit: Limit,
  { messageId, atMs }: Arrival,
): Bucket | undefined {
  const counted = bucket?.counted ?? [];
  if (counted.includes(messageId)) return undefined;
  return {
    debt: debtAt(bucket, limit, atMs) + limit.windowMs,
    atMs: bucket === undefined || isFar(bucket, limit, atMs) ? atMs : Math.max(bucket.atMs, atMs),
    counted: [...counted, messageId].slice(-knownMessages),
  };
}

function debtAt(bucket: Bucket | undefined, limit: Limit, atMs: number): number {
  if (bucket === undefined || isFar(bucket, limit, atMs)) return 0;
  const elapsedMs = Math.max(0, atMs - bucket.atMs); // messages need not come in the order of their times
  return Math.max(0, bucket.debt - elapsedMs * limit.count);
}

/** After a window every bucket is full. The same is said of one in the future: its clock was set back. */
function isFar({ atMs: keptMs }: Bucket, { windowMs }: Limit, atMs: number): boolean {
  return Math.abs(atMs - keptMs) >= windowMs;
}
