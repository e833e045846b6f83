import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Clock, Logger } from 'sluice';
import type { ToolUse } from 'sluice/stream';
import type { McpServerConfig } from './config.js';
import { traceMeta } from './trace-meta.js';

/** Milliseconds until a server that has failed is started again: twice as many after each failure. */
const [firstWaitMs, longestWaitMs] = [1_000, 60_000];
/** Tools of one server, and the pages of their list. */
const [maxTools, maxPages] = [500, 50];
/** Characters of what a server has written to stderr that its failure tells. */
const maxTail = 2_000;

/** The words of the SDK for a server of HTTP whose stream has ended, and that cannot be reached any more. */
const isLost = /Maximum reconnection attempts/;
/** The words that a message of too many bytes is known by, once the SDK has wrapped its error. */
const tooLarge = 'larger than allowed:';

interface Connected {
  readonly client: Client;
  tools: Promise<readonly Tool[]>;
}

/** The parts that servers share. */
export interface McpParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One MCP server: connected when it is first needed, and again after it was lost. */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #parts: McpParts;
  #connected: Promise<Connected> | undefined;
  #failures = 0;
  #notBeforeMs = 0;
  #isClosed = false;
  #transport: Transport | undefined;

  constructor(name: string, config: McpServerConfig, parts: McpParts) {
    this.name = name;
    this.#config = config;
    this.#parts = parts;
  }

  /** Its tools; none while it cannot be reached, which is logged. Never rejects. */
  async tools(): Promise<readonly Tool[]> {
    try {
      return await (await this.#connect()).tools;
    } catch {
      return []; // logged when it failed
    }
  }

  /**
   * Calls a tool, once: a call that was under way when the server was lost is not made again.
   *
   * @throws what the SDK says: the server is gone, or has answered with an error.
   */
  async call(
    name: string,
    args: Record<string, unknown>,
    use: Pick<ToolUse, 'signal' | 'onUpdate'>,
  ) {
    const { client } = await this.#connect();
    try {
      return await client.callTool({ name, arguments: args, ...(await traceMeta()) }, undefined, {
        ...{ signal: use.signal, timeout: 2_147_483_647 }, // the host ends the call, and says so
        onprogress: ({ progress, total, message }) =>
          use.onUpdate(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`),
      });
    } catch (thrown) {
      // the session is not known any more, or its connection has broken
      if (!use.signal.aborted && /Streamable HTTP|fetch failed/.test(String(thrown)))
        await this.#drop(client);
      throw thrown;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#transport?.close(); // also one that has not answered yet
    await this.#connected?.catch(() => undefined);
  }

  #connect(): Promise<Connected> {
    if (this.#connected !== undefined) return this.#connected;
    const { clock, logger } = this.#parts;
    const waitMs = this.#notBeforeMs - clock.now();
    if (this.#isClosed || waitMs > 0)
      return Promise.reject(new Error(`the MCP server "${this.name}" is not there`));
    const connecting = this.#open();
    this.#connected = connecting;
    connecting.catch((error: unknown) => {
      if (this.#connected === connecting) this.#connected = undefined;
      this.#failed();
      logger.warn('an MCP server cannot be used', { server: this.name, error });
    });
    return connecting;
  }

  async #open(): Promise<Connected> {
    const { Client: McpClient } = await import('@modelcontextprotocol/sdk/client/index.js');
    const client = new McpClient({ name: 'sluice', version: '0.1.0' });
    const { transport, tail } = await this.#newTransport();
    if (this.#isClosed) throw new Error('the host has let go of it');
    this.#transport = transport;
    const { startTimeoutMs: timeout } = this.#config;
    let tools: readonly Tool[];
    try {
      await client.connect(transport, { timeout });
      tools = await this.#list(client);
    } catch (thrown) {
      await client.close().catch(() => undefined);
      throw tail() === '' ? thrown : new Error(`${String(thrown)} [stderr] ${tail()}`);
    }
    const connected: Connected = { client, tools: Promise.resolve(tools) };
    const { ToolListChangedNotificationSchema } = await import(
      '@modelcontextprotocol/sdk/types.js'
    );
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      connected.tools = this.#list(client).catch((error: unknown) => {
        this.#parts.logger.warn('an MCP server has not listed its tools', {
          server: this.name,
          error,
        });
        return []; // until it lists them again
      });
    });
    const { clock } = this.#parts;
    const sinceMs = clock.now();
    client.onerror = ({ message }) => {
      if (message.includes(tooLarge) || isLost.test(message)) void this.#drop(client); // its calls would wait for the rest
    };
    let isGone = false;
    client.onclose = () => {
      if (this.#isClosed || isGone) return; // of several calls that have found it lost, each closes it
      isGone = true;
      this.#connected = undefined;
      if (clock.now() - sinceMs > longestWaitMs) this.#failures = 0;
      this.#failed();
      this.#parts.logger.warn('an MCP server has gone', { server: this.name, stderr: tail() });
    };
    return connected;
  }

  async #newTransport(): Promise<{ readonly transport: Transport; tail(): string }> {
    const config = this.#config;
    if ('url' in config) {
      const { StreamableHTTPClientTransport } = await import(
        '@modelcontextprotocol/sdk/client/streamableHttp.js'
      );
      const { headers } = config;
      const fetch = boundedFetch(config.maxMessageBytes);
      const transport = new StreamableHTTPClientTransport(new URL(config.url), {
        ...{ requestInit: { headers }, fetch },
      });
      return { transport: transport as Transport, tail: () => '' }; // its sessionId may be undefined, which the type of transports forbids
    }
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { command, args, env, cwd, maxMessageBytes: maxBufferSize } = config;
    const transport = new StdioClientTransport({
      ...{ command, args, env, maxBufferSize, stderr: 'pipe' },
      ...(cwd !== undefined && { cwd }),
    });
    let tail = '';
    transport.stderr?.on('data', (piece: Buffer) => {
      tail = `${tail}${piece.toString()}`.slice(-maxTail);
    });
    return { transport, tail: () => tail.trim() };
  }

  async #list(client: Client): Promise<readonly Tool[]> {
    const { allow, startTimeoutMs: timeout } = this.#config;
    const tools: Tool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && tools.length < maxTools; page++) {
      const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
      tools.push(...listed.tools);
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return tools.filter(({ name }) => allow?.includes(name) ?? true).slice(0, maxTools);
  }

  async #drop(client: Client): Promise<void> {
    await client.close().catch(() => undefined); // `onclose` forgets it
    this.#notBeforeMs = 0; // its program runs: only this connection was lost
  }

  #failed(): void {
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** this.#failures++);
    this.#notBeforeMs = this.#parts.clock.now() + waitMs;
  }
}

/** A `fetch` whose answers end with an error if a message in them is larger than allowed. */
function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    let bytes = 0;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, out) => {
        bytes += piece.byteLength;
        const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
        if (isStream && piece.includes(10)) bytes = piece.byteLength - piece.lastIndexOf(10); // a line has ended
        if (bytes > maxBytes) out.error(new Error(`a message is ${tooLarge} ${maxBytes} bytes`));
        else out.enqueue(piece);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(count), { status, statusText, headers });
  };
}
