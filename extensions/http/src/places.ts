import type { ServerResponse } from 'node:http';
import type { HttpConfig } from './config.js';
import type { Caller } from './keys.js';

/** Requests of one kind that are answered at once, of all keys, and of all webhooks. */
const inAll = 64;
/** A quarter of them: nobody has more, if others may need them. */
const share = inAll / 4;

/** Places that a request needs, each by the name of those who share it, with the most that they have. */
export type NeededPlaces = readonly (readonly [of: string, atMost: number])[];

/** A request with a key. A press takes no place of a chat: who waits for an answer can press a button of it. */
export type Asked = 'chat' | 'press';

/**
 * Says which places a request with a key needs. A front end, which speaks for several people, leaves one share to the other keys
 * (http §1.5).
 */
export function placesOfKey(
  { keys }: HttpConfig,
  { name, isFrontEnd }: Caller,
  asked: Asked,
): NeededPlaces {
  const atMost = isFrontEnd ? inAll - share : share;
  return [
    [`${asked} of keys`, inAll],
    [`${asked} of key ${name}`, keys.length > 1 ? atMost : inAll],
  ];
}

/** Says which places a person of a front end needs. */
export function placesOfPerson(senderId: string, asked: Asked): NeededPlaces {
  return [[`${asked} of person ${senderId}`, share]];
}

/** Says which places a delivery needs. Requests with keys take none of them. */
export function placesOfHook({ webhooks }: HttpConfig, hook: string): NeededPlaces {
  return [
    ['hooks', inAll],
    [`hook ${hook}`, Object.keys(webhooks).length > 1 ? share : inAll],
  ];
}

/** The places of the requests that are answered. */
export class Places {
  readonly #taken = new Map<string, number>();

  /** Returns whether all places that a request needs are free. */
  areFree(needed: NeededPlaces): boolean {
    return needed.every(([of, atMost]) => (this.#taken.get(of) ?? 0) < atMost);
  }

  /** Takes places until the answer has ended. @returns whether they were free. */
  take(needed: NeededPlaces, response: ServerResponse): boolean {
    if (response.closed) return true; // its client has gone
    if (!this.areFree(needed)) return false;
    for (const [of] of needed) this.#taken.set(of, (this.#taken.get(of) ?? 0) + 1);
    response.once('close', () => {
      for (const [of] of needed) {
        const left = (this.#taken.get(of) ?? 1) - 1;
        if (left > 0) this.#taken.set(of, left);
        else this.#taken.delete(of);
      }
    });
    return true;
  }
}
