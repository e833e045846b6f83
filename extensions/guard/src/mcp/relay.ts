import type {
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from 'sluice';
import { fault, Gate, type Response } from './gate.js';
import type { McpOptions } from './options.js';

/** Milliseconds that judgements have after the client has left. */
const leavingMs = 500;

/** One end of a session. */
type End = 'client' | 'server';
const other = { client: 'server', server: 'client' } as const;

/** A request that has no answer yet. */
interface Asked {
  /** As it was sent, if it was. */
  request: JSONRPCRequest;
  /** Aborted when nobody waits for the answer any more. */
  readonly stop: AbortController;
  readonly timer: ReturnType<Clock['setTimeout']>;
  /** `judged`: it is not at the other end yet. `sent`: it is. `answered`: its answer is judged. */
  at: 'judged' | 'sent' | 'answered';
  context?: string | undefined;
}

/**
 * A session of MCP between two transports. Each message goes on as it came, but what the gate judges. Ids are those of the end that asks:
 * those of the two ends have nothing to do with each other.
 */
export class Relay {
  readonly #ends: Readonly<Record<End, Transport>>;
  readonly #gate: Gate;
  readonly #options: McpOptions;
  /** By the end that asks. */
  readonly #asked = {
    client: new Map<RequestId, Asked>(),
    server: new Map<RequestId, Asked>(),
  };
  readonly #judging = new Set<Promise<void>>();
  #ending: Promise<void> | undefined;
  #resolve: (by: End) => void = () => undefined;
  /** Resolves when both ends are closed, with the one that has gone first. */
  readonly closed = new Promise<End>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(client: Transport, server: Transport, options: McpOptions) {
    this.#ends = { client, server };
    this.#options = options;
    this.#gate = new Gate(options);
  }

  async start(): Promise<void> {
    for (const end of ['server', 'client'] as const) {
      const transport = this.#ends[end];
      transport.onmessage = (message) =>
        this.#take(end, message).catch(({ message: why }) => this.#warn(`the ${end}: ${why}`));
      transport.onerror = ({ message }) => this.#warn(`the ${end}: ${message}`);
      transport.onclose = () => void this.end(end);
      await transport.start();
    }
  }

  /** Ends the session, since one of its ends has gone. A client that has gone later waits for no judgement. Never rejects. */
  end(by: End): Promise<void> {
    if (this.#ending !== undefined && by === 'client') this.#abort();
    this.#ending ??= this.#end(by);
    return this.#ending;
  }

  async #end(by: End): Promise<void> {
    const { client, server } = this.#ends;
    const asked = [...this.#asked.client.values()];
    if (by === 'client') {
      if (asked.some(({ at }) => at === 'judged')) await this.#judged(true);
      await server.close().catch(() => undefined); // it may still answer
    } else
      for (const { request, at } of asked)
        if (at !== 'answered')
          await this.#settle('client', fault(request.id, 'the server has gone'));
    await this.#judged(by === 'client');
    this.#abort();
    for (const end of [server, client]) await end.close().catch(() => undefined);
    this.#resolve(by);
  }

  #abort(): void {
    for (const end of ['client', 'server'] as const)
      for (const id of this.#asked[end].keys()) this.#forget(end, id)?.stop.abort();
  }

  /** Waits for what is being judged; if the client has left, it is soon given up with the rest. */
  async #judged(isLeft: boolean): Promise<void> {
    const { clock } = this.#options;
    const late = isLeft ? [clock.setTimeout(() => this.#abort(), leavingMs)] : [];
    await Promise.all(this.#judging);
    for (const timer of late) clock.clearTimeout(timer);
  }

  /** Takes a message. Resolves when the next one may come. */
  async #take(from: End, given: unknown): Promise<void> {
    if (Array.isArray(given)) {
      for (const one of given) await this.#take(from, one); // a batch, of the protocol of March 2025
      return;
    }
    if (!JSONRPCMessageSchema.safeParse(given).success) return this.#malformed(from, Object(given));
    const message = given as JSONRPCMessage; // as it came: the schema would take members away
    if (!('method' in message)) return this.#answer(from, message);
    return 'id' in message ? this.#request(from, message) : this.#notify(from, message);
  }

  /** Answers for a message that cannot be read, so that nobody waits for ever. */
  async #malformed(from: End, { id, method }: Readonly<Record<string, unknown>>): Promise<void> {
    this.#warn(`the ${from} has sent what is no JSON-RPC message`);
    if (typeof id !== 'string' && typeof id !== 'number') return;
    if (method !== undefined) return this.#send(from, fault(id, 'no JSON-RPC request', -32600));
    this.fail(other[from], id, 'the answer is no JSON-RPC message');
  }

  async #request(from: End, request: JSONRPCRequest): Promise<void> {
    const { id } = request;
    const mine = this.#asked[from];
    const { clock, bounds } = this.#options;
    const { maxOpen, requestMs } = bounds;
    if (mine.has(id)) return this.#send(from, fault(id, 'a request with this id is open', -32600));
    if (mine.size >= maxOpen) return this.#send(from, fault(id, `${maxOpen} requests are open`));
    const timer = clock.setTimeout(() => void this.#late(from, asked), requestMs);
    const asked: Asked = { request, stop: new AbortController(), timer, at: 'judged' };
    mine.set(id, asked);
    if (from === 'client' && request.method === 'tools/call')
      return this.#judge(asked, () => this.#call(asked));
    return this.#pass(from, asked);
  }

  async #call(asked: Asked): Promise<void> {
    const { answer, request, context } = await this.#gate.calling(asked.request, asked.stop.signal);
    if (asked.stop.signal.aborted) return;
    if (answer !== undefined) return this.#settle('client', answer);
    Object.assign(asked, { request, context });
    await this.#pass('client', asked);
  }

  async #pass(from: End, asked: Asked): Promise<void> {
    asked.at = 'sent';
    const { request } = asked;
    await this.#ends[other[from]]
      .send(request, this.#about(from, request))
      .catch(({ message }) => this.#settle(from, fault(request.id, message)));
  }

  async #answer(from: End, response: Response): Promise<void> {
    const whose = other[from];
    const asked = response.id === undefined ? undefined : this.#asked[whose].get(response.id);
    if (asked?.at !== 'sent') return this.#warn(`the ${from} has answered what nobody waits for`);
    const { request, stop } = asked;
    if (request.method === 'initialize' && 'result' in response)
      this.#ends[from].setProtocolVersion?.(String(response.result['protocolVersion']));
    const { signal } = stop;
    const given = from === 'client' ? response : this.#gate.answered(asked, response, signal);
    if (!(given instanceof Promise)) return this.#settle(whose, given);
    asked.at = 'answered';
    this.#judge(asked, async () => {
      const judged = await given;
      if (!signal.aborted) await this.#settle(whose, judged);
    });
  }

  async #notify(from: End, message: JSONRPCNotification): Promise<void> {
    const { method, params } = message;
    if (method === 'tools/call') return this.#warn(`the ${from} has called a tool without an id`);
    if (method === 'notifications/cancelled') {
      const asked = this.#forget(from, params?.['requestId'] as RequestId); // any other is that of no request
      asked?.stop.abort();
      if (asked?.at === 'judged') return;
    }
    await this.#send(other[from], message, this.#about(from, message));
  }

  /** Gives up a request that has had no answer for too long. */
  async #late(from: End, { request: { id, method }, at, stop }: Asked): Promise<void> {
    stop.abort();
    await this.#settle(from, fault(id, 'Request timed out', -32001));
    const params = { requestId: id, reason: 'timed out' };
    if (at === 'sent' && method !== 'initialize')
      await this.#send(other[from], { jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }

  /** Takes a fault for the answer of a request that waits for one. It is judged as any other: it may quote words of the server. */
  fail(whose: End, id: RequestId, why: string): void {
    if (this.#asked[whose].get(id)?.at === 'sent') void this.#answer(other[whose], fault(id, why));
  }

  #warn(line: string): void {
    this.#options.warn(line);
  }

  /** Answers a request, once. */
  async #settle(whose: End, response: Response): Promise<void> {
    if (response.id !== undefined && this.#forget(whose, response.id) !== undefined)
      await this.#send(whose, response);
  }

  #forget(whose: End, id: RequestId): Asked | undefined {
    const asked = this.#asked[whose].get(id);
    this.#asked[whose].delete(id);
    if (asked !== undefined) this.#options.clock.clearTimeout(asked.timer);
    return asked;
  }

  /** Does the work of a judgement, for which no other message waits. */
  #judge({ request }: Asked, work: () => Promise<void>): void {
    const done = work()
      .catch(({ message }) => this.#settle('client', fault(request.id, `not judged: ${message}`)))
      .finally(() => this.#judging.delete(done));
    this.#judging.add(done);
  }

  /** Finds the request of the client that a message of the server is about, or else may be: a client over HTTP has a stream for each. */
  #about(from: End, { params }: JSONRPCRequest | JSONRPCNotification): TransportSendOptions {
    const open = from === 'client' ? [] : [...this.#asked.client.values()];
    const token = params?.['progressToken'];
    const its = open.find(
      ({ request }) => token !== undefined && request.params?._meta?.progressToken === token,
    );
    return { relatedRequestId: (its ?? open.at(-1))?.request.id };
  }

  async #send(to: End, message: JSONRPCMessage, how?: TransportSendOptions): Promise<void> {
    await this.#ends[to]
      .send(message, how)
      .catch(({ message: why }) => this.#warn(`the ${to} cannot be told: ${why}`));
  }
}
