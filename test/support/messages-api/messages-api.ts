import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Reply } from './reply.js';
import { messageEvents } from './sse.js';

/** A request that came in. */
export interface ApiRequest {
  /** The method and the path, without the query. */
  readonly what: string;
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
  /** By the name of a tool, the JSON Schema of its input. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** The text of the messages, each as JSON. */
  readonly messages: readonly string[];
  /** The lane of the script that answered. */
  readonly lane: string;
}

/** A reply, or how to make it when it is asked for. */
type ScriptedReply = Reply | (() => Reply);

/** Replies of the model, in order: of the main conversation, and of each that begins with a text of its own. */
export interface Script {
  readonly main: readonly ScriptedReply[];
  readonly lanes?: Readonly<Record<string, readonly ScriptedReply[]>>;
}

/**
 * A server on this machine that speaks the Messages API with the words of a script: streamed replies, errors,
 * replies that never end. It keeps what it was asked and what it has said.
 */
export class MessagesApi implements AsyncDisposable {
  readonly requests: ApiRequest[] = [];
  /** Texts sent in the main conversation, as far as they were sent; one a message. */
  readonly sent: string[] = [];
  readonly #server: Server;
  readonly #script: Script;
  readonly #used = new Map<string, number>();

  private constructor(script: Script) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(Object(error)));
    });
  }

  static async start(script: Script): Promise<MessagesApi> {
    const api = new MessagesApi(script);
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return `http://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding was set
    const what = `${request.method} ${(request.url ?? '').split('?')[0]}`;
    const body = Object(JSON.parse(Buffer.concat(chunks).toString() || '{}'));
    const asked = {
      what,
      headers: request.headers,
      model: String(body.model),
      system: JSON.stringify(body.system ?? ''),
      tools: listOf(body.tools).map((tool) => String(Object(tool).name)),
      schemas: Object.fromEntries(
        listOf(body.tools).map((tool) => [Object(tool).name, Object(tool).input_schema]),
      ),
      messages: listOf(body.messages).map((message) => JSON.stringify(message)),
    };
    const lane = this.#laneOf(asked.messages);
    this.requests.push({ ...asked, lane });
    if (what === 'POST /v1/messages') return this.#reply(lane, asked.model, response);
    const counted = what === 'POST /v1/messages/count_tokens';
    response.writeHead(counted ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(counted ? { input_tokens: 12 } : {}));
  }

  #laneOf([first = '']: readonly string[]): string {
    const lanes = Object.keys(this.#script.lanes ?? {});
    return lanes.find((text) => first.includes(text)) ?? 'main';
  }

  async #reply(lane: string, model: string, response: ServerResponse): Promise<void> {
    const at = this.#used.get(lane) ?? 0;
    this.#used.set(lane, at + 1);
    const script = lane === 'main' ? this.#script.main : (this.#script.lanes?.[lane] ?? []);
    const scripted = script[at] ?? exhausted;
    const reply = typeof scripted === 'function' ? scripted() : scripted;
    if (reply.kind === 'error') {
      const { status, type, message } = reply;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error: { type, message } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = reply.hangAfter ?? Number.POSITIVE_INFINITY;
    let sent = '';
    for (const event of messageEvents(`msg_${lane}_${at}`, model, reply.blocks)) {
      const text: unknown = Object(event.delta).text;
      if (event.type === 'content_block_start') await reply.until?.();
      if (typeof text === 'string') {
        if (left-- <= 0) break;
        sent += text;
      }
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (lane === 'main' && sent !== '') this.sent.push(sent);
    if (left >= 0) response.end();
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const exhausted: Reply = {
  kind: 'error',
  status: 400,
  type: 'invalid_request_error',
  message: 'The script has no reply left.',
};
