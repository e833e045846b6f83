import { isIPv4, type Socket } from 'node:net';

interface Guest {
  readonly place: string;
  /** Its requests whose sender is known, and that are not answered yet. */
  known: number;
  /** The bytes that are held of the bodies of the others. */
  bytes: number;
}

type Bounds = Readonly<Record<'ofOnePlace' | 'inAll' | 'bytes', number>>;
type TurnAway = (socket: Socket, why: string) => void;

/**
 * The connections of a receiver. A stranger who comes when all places are taken gets the place of the one who has been on the way
 * longest: whoever asks in earnest is done in a moment, so that slow ones lock nobody out. Bytes are bounded in the same way. A
 * connection whose sender is known keeps its place.
 */
export class Strangers {
  /** The one that has asked nothing for longest comes first. */
  readonly #guests = new Map<Socket, Guest>();
  readonly #atMost: Bounds;
  readonly #turnAway: TurnAway;
  #bytes = 0;

  constructor(atMost: Bounds, turnAway: TurnAway) {
    this.#atMost = atMost;
    this.#turnAway = turnAway;
  }

  enter(socket: Socket): void {
    const place = placeOf(socket.remoteAddress);
    this.#guests.set(socket, { place, known: 0, bytes: 0 });
    socket.once('close', () => this.#forget(socket));
    const strangers = [...this.#guests].filter(([, { known }]) => known === 0);
    const neighbours = strangers.filter(([, guest]) => guest.place === place);
    const { ofOnePlace, inAll } = this.#atMost;
    const isCrowd = neighbours.length > ofOnePlace;
    if (!isCrowd && strangers.length <= inAll && this.#guests.size < 2 * inAll) return;
    for (const [oldest] of (isCrowd ? neighbours : strangers).slice(0, 1))
      this.#lose(oldest, 'too many connections');
  }

  /** A request has begun: it is the newest now. */
  begin(socket: Socket): void {
    const guest = this.#guests.get(socket);
    if (guest !== undefined && this.#guests.delete(socket)) this.#guests.set(socket, guest);
  }

  /** @param count 1 for a request whose sender is known, and -1 when it is answered. */
  know(socket: Socket, count: 1 | -1): void {
    const guest = this.#guests.get(socket);
    if (guest !== undefined) guest.known += count;
  }

  /** Holds bytes of a stranger's body, or lets go of them if the number is below 0. */
  hold(socket: Socket, bytes: number): void {
    const own = this.#guests.get(socket);
    if (own === undefined) return;
    own.bytes += bytes;
    this.#bytes += bytes;
    for (const [other, guest] of this.#guests)
      if (this.#bytes > this.#atMost.bytes && guest.bytes > 0) this.#lose(other, 'too many bytes');
  }

  #lose(socket: Socket, why: string): void {
    this.#forget(socket);
    this.#turnAway(socket, why);
  }

  #forget(socket: Socket): void {
    this.#bytes -= this.#guests.get(socket)?.bytes ?? 0;
    this.#guests.delete(socket);
  }
}

/** The place that an address stands for: whoever has one address of IPv6 has 2^64 beside it. */
export function placeOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(plain)) return plain;
  const [head = [], tail = []] = plain.split('::').map((part) => part.split(':'));
  const zeros = Array<string>(8 - Math.min(8, head.length + tail.length)).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
