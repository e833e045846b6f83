import type { Clock } from '../../kernel/index.js';

const minuteMs = 60_000;

/** The bounds of the sends of one extension (extensions-that-act §4.6). */
export const sendBounds = {
  /** Sends upon its own sends, one after the other, that `after` names. */
  depth: 8,
  /** Sends to one address in a minute. */
  toOneAddress: 30,
  /** Sends in a minute. */
  inAll: 600,
} as const;

/** Counts a send. @returns why it may not go out, if it may not: it is not counted then. */
type CountSend = (
  extensionId: string,
  place: readonly unknown[],
  depth: number,
) => string | undefined;

/** Counts the sends of extensions, so that one that sends upon its own sends comes to an end. */
export function countedSends(clock: Clock): CountSend {
  const { depth: deepest, toOneAddress, inAll } = sendBounds;
  let minute = 0;
  /** The sends of this minute by extension and address: at most `inAll` for each extension. */
  const counts = new Map<string, number>();
  return (extensionId, place, depth) => {
    if (depth > deepest) return `it follows ${deepest} sends that followed one another`;
    const now = Math.floor(clock.monotonicMs() / minuteMs);
    if (now !== minute) counts.clear();
    minute = now;
    const all = JSON.stringify([extensionId]);
    const address = JSON.stringify([extensionId, ...place]);
    const count = counts.get(all) ?? 0;
    const countThere = counts.get(address) ?? 0;
    if (countThere >= toOneAddress) return `it sent ${toOneAddress} to one address this minute`;
    if (count >= inAll) return `it sent ${inAll} this minute`;
    counts.set(all, count + 1);
    counts.set(address, countThere + 1);
    return undefined;
  };
}
