import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatMessage } from '../src/chat-messages.js';

/** The body of a request, as far as tests read it. */
export interface AskedBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly [field: string]: unknown;
}

/** One request that came. */
export interface Asked {
  readonly body: AskedBody;
  readonly headers: IncomingMessage['headers'];
}

/** Answers one request. */
export type Answer = (response: ServerResponse, asked: Asked) => void | Promise<void>;

/** A model's server on loopback: each request gets the next answer, and the last one again when there are no more. */
export async function modelServer(...answers: readonly Answer[]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += String(piece);
    const one = { body: JSON.parse(text) as AskedBody, headers: request.headers };
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(one);
    await answer?.(response, one);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens at a port
  return {
    asked,
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An answer in parts: each is a delta, a whole part, or a line as it is. */
export function parts(...given: readonly (object | string)[]): Answer {
  return (response) => {
    open(response);
    for (const one of given) write(response, one);
    response.end('data: [DONE]\n\n');
  };
}

/** The ways of a scripted server besides writing: it cuts the connection, is silent and keeps it open, or pings for ever. */
export type Act = 'CUT' | 'HOLD' | 'PING';

/** A server that does one step after the other, and ends: it writes deltas, parts, lines as they are, or acts. */
export function scripted(
  steps: readonly (object | string)[],
  { type = 'text/event-stream', cut = Number.POSITIVE_INFINITY } = {},
): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': type });
    for (const one of steps) {
      if (one === 'HOLD') return;
      if (one === 'CUT') return void setImmediate(() => response.destroy());
      while (one === 'PING' && !response.destroyed) {
        response.write(': ping\n\n');
        await new Promise(setImmediate);
      }
      for (let text = lineOf(one); text !== ''; text = text.slice(cut)) {
        response.write(text.slice(0, cut));
        if (cut < text.length) await new Promise(setImmediate); // a piece of its own
      }
    }
    response.end();
  };
}

/** Steps again and again. */
export function repeated(times: number, ...steps: readonly (object | string)[]) {
  return Array.from({ length: times }, () => steps).flat();
}

/** Steps in another order. @param order the places from which they are taken. */
export function reordered(order: readonly number[], steps: readonly (object | string)[]) {
  return order.flatMap((at) => steps[at] ?? []);
}

export const done = 'data: [DONE]\n\n';

export function open(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

export function write(response: ServerResponse, one: object | string): void {
  response.write(lineOf(one));
}

function lineOf(one: object | string): string {
  const whole = typeof one === 'string' || 'choices' in one || 'error' in one ? one : part(one);
  return typeof whole === 'string' ? whole : `data: ${JSON.stringify(whole)}\n\n`;
}

/** A part with a delta. */
export function part(delta: object, finish_reason: string | null = null): object {
  return {
    id: 'c-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  };
}

/** A text, whole. */
export function says(text: string): Answer {
  const [first = '', ...rest] = text.match(/\S+\s*/g) ?? [''];
  return parts(
    { role: 'assistant', content: first },
    ...rest.map((content) => ({ content })),
    part({}, 'stop'),
  );
}

/** Calls of tools: name and arguments, as JSON or as a text. */
export function calls(
  ...wished: readonly (readonly [name: string, args: object | string])[]
): Answer {
  return parts(
    ...wished.flatMap(([name, args], index) => {
      const text = typeof args === 'string' ? args : JSON.stringify(args);
      const cut = Math.ceil(text.length / 2);
      const piece = (called: object, id?: string) => ({
        tool_calls: [
          { index, ...(id !== undefined && { id, type: 'function' }), function: called },
        ],
      });
      return [
        piece({ name, arguments: '' }, `call-${index}`),
        piece({ arguments: text.slice(0, cut) }),
        piece({ arguments: text.slice(cut) }),
      ];
    }),
    part({}, 'tool_calls'),
  );
}

/** A response that is an error. */
export function fails(
  status: number,
  error: object = {},
  headers: Record<string, string> = {},
): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error }));
  };
}
