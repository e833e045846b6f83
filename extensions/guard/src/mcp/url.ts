import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { McpOptions } from './options.js';

/** Milliseconds that the SDK has to read the rest of a stream, and that the end of a session may take. */
const restMs = 1_000;

/** A server of streamable HTTP. It says which requests it will not answer: it cannot be reached, or its stream has ended. */
export class UrlTransport extends StreamableHTTPClientTransport {
  readonly #options: McpOptions;
  readonly #fail: (id: RequestId, why: string) => void;

  /** @param fail is told of a request that may have been answered before. */
  constructor(
    { url, headers = {} }: Extract<McpOptions['server'], { url: string }>,
    options: McpOptions,
    fail: (id: RequestId, why: string) => void,
  ) {
    super(new URL(url), { requestInit: { headers }, fetch: (to, init) => this.#fetch(to, init) });
    this.#options = options;
    this.#fail = fail;
  }

  /** Sends. It waits for no answer of a request. */
  override async send(message: JSONRPCMessage): Promise<void> {
    const sent = super.send(message);
    if (!isJSONRPCRequest(message)) return sent;
    void sent.catch(({ message: why, cause }) => this.#fail(message.id, `${why} ${cause ?? ''}`));
  }

  override async close(): Promise<void> {
    const late = new Promise<void>((resolve) => {
      this.#options.clock.setTimeout(resolve, restMs).unref?.();
    });
    await Promise.race([this.terminateSession().catch(() => undefined), late]);
    await super.close();
  }

  /** Fetches, and looks at the length of each message and at the end of the stream. */
  async #fetch(to: string | URL, init?: RequestInit): Promise<Response> {
    const response = await fetch(to, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isStream = headers.get('content-type')?.includes('event-stream') === true;
    const { id } = typeof init?.body === 'string' && isStream ? JSON.parse(init.body) : {};
    const pieces = this.#watched(body, isStream, id);
    return new Response(ReadableStream.from(pieces), { status, statusText, headers });
  }

  async *#watched(body: AsyncIterable<Uint8Array>, isStream: boolean, id: RequestId | undefined) {
    const { clock, bounds } = this.#options;
    const { maxBytes } = bounds;
    let [bytes, canResume] = [0, id === undefined];
    try {
      for await (const piece of body) {
        bytes += piece.byteLength;
        if (!canResume) canResume = /^id:/m.test(Buffer.from(piece).toString());
        if (isStream && piece.includes(10)) bytes = piece.byteLength - piece.lastIndexOf(10); // a line has ended
        if (bytes > maxBytes) throw new Error(`a message is larger than ${maxBytes} bytes`);
        yield piece;
      }
    } finally {
      const over = () => id !== undefined && this.#fail(id, 'the stream of the server has ended');
      if (!canResume) clock.setTimeout(over, restMs).unref?.();
    }
  }
}
