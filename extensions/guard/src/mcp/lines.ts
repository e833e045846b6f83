import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** The streams that lines are read from and written to. */
interface Lines {
  readonly input: Readable;
  /** Resolves when the text has been handed on. */
  readonly write: (text: string) => Promise<unknown>;
  readonly maxBytes: number;
  /** Ends the program at the other end, if it is ours. */
  readonly end?: () => Promise<void>;
}

/**
 * Messages as lines of JSON, the transport of MCP over stdio. It reads no further while a message is being taken, so that a flood waits in
 * the pipe. What it hands on is parsed and not yet checked; a line that is no JSON is handed on as nothing.
 */
export function lineTransport({ input, write, maxBytes, end }: Lines): Transport {
  const transport: Transport = {
    start: async () => {
      const over = read().catch((error: Error) => transport.onerror?.(error));
      void over.then(() => transport.onclose?.());
    },
    send: async (message) => void (await write(`${JSON.stringify(message)}\n`)),
    close: async () => {
      await end?.();
      input.destroy();
    },
  };
  async function read(): Promise<void> {
    let [held, bytes]: [Buffer[], number] = [[], 0];
    for await (const chunk of input) {
      const piece = Buffer.from(chunk);
      for (let [from, at] = [0, 0]; at >= 0; from = at + 1) {
        at = piece.indexOf('\n', from);
        const part = piece.subarray(from, at < 0 ? undefined : at);
        held.push(part);
        bytes += part.length;
        if (bytes > maxBytes) throw new Error(`a message is larger than ${maxBytes} bytes`);
        if (at < 0) break;
        const line = Buffer.concat(held).toString().trim();
        [held, bytes] = [[], 0];
        if (line !== '') await transport.onmessage?.(parsed(line));
      }
    }
  }
  return transport;
}

/** Nothing of it is believed: the relay checks it. */
function parsed(line: string) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
