import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Clock, Logger } from 'sluice';
import { inOwnGroup } from 'sluice/extension';
import type { AgentTrouble, ToolUse } from 'sluice/stream';
import { z } from 'zod';
import type { McpServerConfig } from './config.js';
import { McpList } from './mcp-list.js';
import { traceMeta } from './trace-meta.js';

/** Milliseconds until a server that has failed is started again: twice as many after each failure. */
const [firstWaitMs, longestWaitMs] = [1_000, 60_000];
/** Pages of a list, and milliseconds between two lists that a server says have changed. */
const [maxPages, betweenListsMs] = [50, 1_000];
/** Characters of stderr that a failure tells, and tools that are left out that it names. */
const [maxTail, maxTroubles] = [2_000, 20];
/** Milliseconds of a request that somebody else ends. */
const noTimeout = 2_147_483_647;
const hint =
  'Run its command by hand, or ask its address; look at its settings in "mcpServers". A slow one needs a longer startTimeoutMs.';

/** The words of the SDK for a server of HTTP whose stream has ended, and that cannot be reached any more. */
const isLost = /Maximum reconnection attempts/;
/** The words that a message of too many bytes is known by, once the SDK has wrapped its error. */
const tooLarge = 'larger than allowed:';

/** The parts that servers share. */
interface McpParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One MCP server: connected when it is first needed, and again after it was lost. */
export class McpServer implements AsyncDisposable {
  readonly name: string;
  readonly callTimeoutMs: number;
  readonly #config: McpServerConfig;
  readonly #parts: McpParts;
  #connected: Promise<Client> | undefined;
  #failures = 0;
  #notBeforeMs = 0;
  #isClosed = false;
  #transport: Transport | undefined;
  #list = new McpList();
  /** The reason why it cannot be used now. */
  #problem: string | undefined;

  constructor(name: string, config: McpServerConfig, parts: McpParts) {
    this.name = name;
    this.callTimeoutMs = config.callTimeoutMs;
    this.#config = config;
    this.#parts = parts;
  }

  /** The reason why it cannot be used, or the first tools that are left out. */
  get troubles(): readonly AgentTrouble[] {
    const { name } = this;
    const detail = this.#problem;
    if (detail !== undefined)
      return [{ whose: name, what: 'it cannot be used', detail: `${detail}. ${hint}` }];
    const shown = [...this.#list.leftOut].slice(0, maxTroubles);
    return shown.map(([tool, why]) => ({ whose: `${name}/${tool}`, what: `left out: ${why}` }));
  }

  /** The list of its tools; an empty one while it cannot be reached, which is logged. Never rejects. */
  async tools(): Promise<McpList> {
    await this.#connect().catch(() => undefined); // logged when it failed
    return this.#list;
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
    const client = await this.#connect();
    try {
      const params = { name, arguments: args, ...(await traceMeta()) };
      return await client.request({ method: 'tools/call', params }, z.unknown(), {
        ...{ signal: use.signal, timeout: noTimeout }, // the host ends the call, and says so
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

  #connect(): Promise<Client> {
    if (this.#connected !== undefined) return this.#connected;
    const { clock } = this.#parts;
    const waitMs = this.#notBeforeMs - clock.now();
    if (this.#isClosed || waitMs > 0)
      return Promise.reject(new Error(`the MCP server "${this.name}" is not there`));
    const connecting = this.#open();
    this.#connected = connecting;
    connecting.catch((error: unknown) => {
      if (this.#connected === connecting) this.#connected = undefined;
      this.#failed('an MCP server cannot be used', wordsOf(error));
    });
    return connecting;
  }

  async #open(): Promise<Client> {
    const { Client: McpClient } = await import('@modelcontextprotocol/sdk/client/index.js');
    const client = new McpClient({ name: 'sluice', version: '0.2.0' });
    const { transport, tail } = await this.#newTransport();
    if (this.#isClosed) throw new Error('the host has let go of it');
    this.#transport = transport;
    const { clock } = this.#parts;
    let [isGone, isWaiting] = [false, false];
    const start = async (): Promise<void> => {
      const untilMs = this.#untilMs();
      await this.#within(untilMs, (options) => client.connect(transport, options));
      this.#list = await this.#read(client, untilMs);
      this.#problem = undefined;
    };
    /** Reads the list anew. The tools stay until then. */
    const readAgain = async (before: Promise<void>): Promise<void> => {
      await before.catch(() => undefined);
      isWaiting = false;
      try {
        const list = isGone ? this.#list : await this.#read(client, this.#untilMs());
        if (!isGone) this.#list = list;
      } catch (thrown) {
        if (!isGone) this.#warn('an MCP server has not listed its tools anew', wordsOf(thrown));
      }
      await new Promise<void>((resolve) => clock.setTimeout(resolve, betweenListsMs).unref?.());
    };
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method !== 'notifications/tools/list_changed' || isWaiting) return; // one is read, and one waits
      isWaiting = true;
      reading = readAgain(reading);
    };
    let unread = '';
    client.onerror = (error) => {
      unread = `; a message of it could not be read: ${wordsOf(error)}`;
    };
    let reading = start();
    try {
      await reading;
    } catch (thrown) {
      isGone = true;
      void client.close().catch(() => undefined); // a program may take its time to end
      await new Promise(setImmediate);
      const words = wordsOf(thrown) + unread;
      throw new Error(tail() === '' ? words : `${words} [stderr] ${tail()}`);
    }
    const sinceMs = clock.now();
    client.onerror = ({ message }) => {
      if (message.includes(tooLarge) || isLost.test(message)) void this.#drop(client); // its calls would wait for the rest
    };
    client.onclose = () => {
      if (this.#isClosed || isGone) return; // of several calls that have found it lost, each closes it
      isGone = true;
      this.#connected = undefined;
      if (clock.now() - sinceMs > longestWaitMs) this.#failures = 0;
      this.#failed('an MCP server has gone', tail() === '' ? 'its connection ended' : tail());
    };
    return client;
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
    const start = transport.start.bind(transport);
    transport.start = () => inOwnGroup(start); // a Ctrl-C in the terminal is not for it
    let tail = '';
    transport.stderr?.on('data', (piece: Buffer) => {
      tail = `${tail}${piece.toString()}`.slice(-maxTail);
    });
    return { transport, tail: () => tail.trim() };
  }

  /** Reads its list. A page that cannot be read ends it; the tools before that page are kept. */
  async #read(client: Client, untilMs: number): Promise<McpList> {
    const list = new McpList();
    const cursors = new Set<string | undefined>();
    let cursor: string | undefined;
    try {
      do {
        cursors.add(cursor);
        const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
        const page = await this.#within(untilMs, (options) =>
          client.request(request, z.unknown(), options),
        );
        cursor = list.add(page, this.#config.allow);
      } while (cursor !== undefined && !cursors.has(cursor) && cursors.size < maxPages);
      if (cursor !== undefined) list.leftOut.set('the rest', 'the pages of the list do not end');
    } catch (thrown) {
      if (cursors.size === 1) throw thrown;
      list.leftOut.set('the rest', `page ${cursors.size}: ${wordsOf(thrown)}`);
    }
    return list;
  }

  /** The time at which a start, or a list that is read anew, must be over. */
  #untilMs(): number {
    return this.#parts.clock.monotonicMs() + this.#config.startTimeoutMs;
  }

  /** Does a part of that. One that is not done in time is given up, since it may never be answered. */
  async #within<T>(untilMs: number, work: (options: RequestOptions) => Promise<T>): Promise<T> {
    const { clock } = this.#parts;
    const stop = new AbortController();
    const late = new Error(`not done within startTimeoutMs (${this.#config.startTimeoutMs} ms)`);
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => {
        reject(late);
        stop.abort(late);
      }, untilMs - clock.monotonicMs());
      const done = work({ timeout: noTimeout, signal: stop.signal }).then(resolve, reject);
      void done.finally(() => clock.clearTimeout(timer));
    });
  }

  async #drop(client: Client): Promise<void> {
    await client.close().catch(() => undefined); // `onclose` forgets it
    this.#notBeforeMs = 0; // its program runs: only this connection was lost
  }

  #failed(message: string, problem: string): void {
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** this.#failures++);
    this.#notBeforeMs = this.#parts.clock.now() + waitMs;
    this.#list = new McpList();
    this.#problem = problem;
    this.#warn(message, problem);
  }

  #warn(message: string, problem: string): void {
    this.#parts.logger.warn(message, { server: this.name, problem, hint });
  }
}

/** The words of an error, and those of its cause, which `fetch` has. */
function wordsOf(thrown: unknown): string {
  const { message = thrown, cause } = Object(thrown);
  const words = String(message).replace(/\s+/g, ' ');
  return cause === undefined ? words : `${words}: ${wordsOf(cause)}`;
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
