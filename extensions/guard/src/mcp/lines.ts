import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/**
 * Messages as lines of JSON, the transport of MCP over stdio. It reads no further while a message is being taken, so that a flood waits in
 * the pipe. What it hands on is parsed and not yet checked; a line that is no JSON is handed on as nothing.
 */
export class LineTransport implements Transport {
  onmessage: Transport['onmessage'];
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  readonly #input: Readable;
  readonly #write: (text: string) => Promise<unknown>;
  readonly #maxBytes: number;
  readonly #end: () => Promise<void>;

  /** @param end ends the program at the other end, if it is ours. */
  constructor(
    input: Readable,
    write: (text: string) => Promise<unknown>,
    maxBytes: number,
    end = async (): Promise<void> => undefined,
  ) {
    this.#input = input;
    this.#write = write;
    this.#maxBytes = maxBytes;
    this.#end = end;
  }

  async start(): Promise<void> {
    const read = this.#read().catch((error: Error) => this.onerror?.(error));
    void read.then(() => this.onclose?.());
  }

  async send(message: object): Promise<void> {
    await this.#write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#end();
    this.#input.destroy();
  }

  async #read(): Promise<void> {
    let [held, bytes]: [Buffer[], number] = [[], 0];
    for await (const chunk of this.#input) {
      const piece = Buffer.from(chunk);
      for (let [from, at] = [0, 0]; at >= 0; from = at + 1) {
        at = piece.indexOf('\n', from);
        const part = piece.subarray(from, at < 0 ? undefined : at);
        held.push(part);
        bytes += part.length;
        if (bytes > this.#maxBytes)
          throw new Error(`a message is larger than ${this.#maxBytes} bytes`);
        if (at < 0) break;
        const line = Buffer.concat(held).toString().trim();
        [held, bytes] = [[], 0];
        if (line !== '') await this.onmessage?.(parsed(line));
      }
    }
  }
}

/** Nothing of it is believed: the relay checks it. */
function parsed(line: string) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
