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

/** Counts the sends of extensions, so that one that sends upon its own sends comes to an end. */
export class SendBounds {
  readonly #clock: Clock;
  #minute = 0;
  /** The sends of this minute by extension and address: at most `inAll` for each extension. */
  readonly #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a send. @returns why it may not go out, if it may not: it is not counted then. */
  take(extensionId: string, place: readonly unknown[], depth: number): string | undefined {
    const { depth: deepest, toOneAddress, inAll } = sendBounds;
    if (depth > deepest) return `it follows ${deepest} sends that followed one another`;
    const minute = Math.floor(this.#clock.monotonicMs() / minuteMs);
    if (minute !== this.#minute) this.#counts.clear();
    this.#minute = minute;
    const all = JSON.stringify([extensionId]);
    const address = JSON.stringify([extensionId, ...place]);
    const count = this.#counts.get(all) ?? 0;
    const countThere = this.#counts.get(address) ?? 0;
    if (countThere >= toOneAddress) return `it sent ${toOneAddress} to one address this minute`;
    if (count >= inAll) return `it sent ${inAll} this minute`;
    this.#counts.set(all, count + 1);
    this.#counts.set(address, countThere + 1);
    return undefined;
  }
}
