import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that came in. */
export interface Asked {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What the service does with a request. */
export type Answer = (response: ServerResponse, asked: Asked) => void;

/** An ownership service that does what a test says, on a port of its own. */
export interface ScriptedService extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
  answer: Answer;
  /** Resolves when so many requests have come in, in all. */
  heard(count: number): Promise<void>;
}

/** A status and a body, at once. */
export function says(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(status, headers).end(body);
}

export const owned = says(409, '{"owner":"other"}');
export const granted = says(200, '{}');

/** Starts a service. It says that the thread is the asker's, until it is told otherwise. */
export async function scriptedService(answer: Answer = granted): Promise<ScriptedService> {
  const asked: Asked[] = [];
  let onHeard = (): void => undefined;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const one = { line: `${request.method} ${request.url}`, headers: request.headers, body };
    asked.push(one);
    onHeard();
    service.answer(response, one);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo; // it listens on one
  const service: ScriptedService = {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer,
    heard: (count) =>
      new Promise((resolve) => {
        onHeard = () => {
          if (asked.length >= count) resolve();
        };
        onHeard();
      }),
    [Symbol.asyncDispose]: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return service;
}
