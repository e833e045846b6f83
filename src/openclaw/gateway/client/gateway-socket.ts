import type { Clock } from 'sluice-kernel';
import { type RawData, WebSocket } from 'ws';
import type { ClientLimits } from './client-options.js';

/** How long the other side may take to close, once it was told. */
const goodbyeMs = 1_000;

/** Hears a socket. Nothing comes after `closed`. */
interface SocketListener {
  text(text: string): void;
  /** A frame that is not looked at. */
  dropped(why: 'binary' | 'oversized'): void;
  /** @param reason in the words of the other side or of the platform. */
  closed(reason: string): void;
}

/** One connection to a gateway, from its start to its end: never compressed, its frames bounded. */
export function gatewaySocket(
  url: URL,
  { maxFrameBytes, maxPayloadBytes }: ClientLimits,
  clock: Clock,
  listener: SocketListener,
) {
  let problem: string | undefined;
  let hearer: SocketListener | undefined = listener;
  const socket = new WebSocket(url, { maxPayload: maxPayloadBytes, perMessageDeflate: false });
  socket.on('message', (data, isBinary) => {
    if (isBinary) return hearer?.dropped('binary');
    const bytes = bytesOf(data);
    if (bytes.length > maxFrameBytes) return hearer?.dropped('oversized');
    hearer?.text(bytes.toString());
  });
  socket.on('error', (error) => {
    problem ??= error.message;
    if (Object(error).code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') hearer?.dropped('oversized');
  });
  socket.on('close', (code, reason) => {
    reportEnd(problem ?? `it was closed with ${code} ${reason.toString()}`.trimEnd());
  });

  function reportEnd(reason: string): void {
    const listener = hearer;
    hearer = undefined;
    listener?.closed(reason);
  }

  return {
    /** The number of bytes that wait to be sent. */
    bufferedBytes: (): number => socket.bufferedAmount,

    send(text: string): void {
      socket.send(text, () => undefined); // what fails closes the socket, too, and is told there
    },

    /** Ends it. `closed` is told before this returns, if it was not; the other side has a second to say goodbye. */
    end(reason: string): void {
      if (hearer === undefined) return;
      const isOpen = socket.readyState === WebSocket.OPEN;
      reportEnd(reason);
      if (!isOpen) {
        socket.terminate();
        return;
      }
      const timer = clock.setTimeout(() => socket.terminate(), goodbyeMs);
      timer.unref?.();
      socket.on('close', () => clock.clearTimeout(timer));
      socket.close(1000);
    },
  };
}

/** The parts of `gatewaySocket` that others use. */
export type GatewaySocket = ReturnType<typeof gatewaySocket>;

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}
