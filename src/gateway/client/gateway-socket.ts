import { type RawData, WebSocket } from 'ws';
import type { Clock } from '../../kernel/index.js';

/** How long the other side may take to close, once it was told. */
const goodbyeMs = 1_000;

/** Hears a socket. Nothing comes after `closed`. */
export interface SocketListener {
  text(text: string): void;
  /** A frame that is not looked at. */
  dropped(why: 'binary' | 'oversized'): void;
  /** @param reason in the words of the other side or of the platform. */
  closed(reason: string): void;
}

/** Bounds of a socket, in bytes. */
export interface SocketLimits {
  readonly maxFrameBytes: number;
  readonly maxPayloadBytes: number;
}

/** One connection to a gateway, from its start to its end: never compressed, its frames bounded. */
export class GatewaySocket {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #listener: SocketListener | undefined;
  #problem: string | undefined;

  constructor(url: URL, limits: SocketLimits, clock: Clock, listener: SocketListener) {
    this.#clock = clock;
    this.#listener = listener;
    const { maxFrameBytes, maxPayloadBytes } = limits;
    const socket = new WebSocket(url, { maxPayload: maxPayloadBytes, perMessageDeflate: false });
    this.#socket = socket;
    socket.on('message', (data, isBinary) => {
      if (isBinary) return this.#listener?.dropped('binary');
      const bytes = bytesOf(data);
      if (bytes.length > maxFrameBytes) return this.#listener?.dropped('oversized');
      this.#listener?.text(bytes.toString());
    });
    socket.on('error', (error) => {
      this.#problem ??= error.message;
      if (Object(error).code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
        this.#listener?.dropped('oversized');
    });
    socket.on('close', (code, reason) => {
      this.#end(this.#problem ?? `it was closed with ${code} ${reason.toString()}`.trimEnd());
    });
  }

  /** The number of bytes that wait to be sent. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string): void {
    this.#socket.send(text, () => undefined); // what fails closes the socket, too, and is told there
  }

  /** Ends it. `closed` is told before this returns, if it was not; the other side has a second to say goodbye. */
  end(reason: string): void {
    if (this.#listener === undefined) return;
    const isOpen = this.#socket.readyState === WebSocket.OPEN;
    this.#end(reason);
    if (!isOpen) {
      this.#socket.terminate();
      return;
    }
    const timer = this.#clock.setTimeout(() => this.#socket.terminate(), goodbyeMs);
    timer.unref?.();
    this.#socket.on('close', () => this.#clock.clearTimeout(timer));
    this.#socket.close(1000);
  }

  #end(reason: string): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.closed(reason);
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}
