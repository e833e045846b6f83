import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

/** A service of the outside, on loopback, that answers whatever it is asked. It takes a WebSocket, and says nothing there. */
export interface StandIn {
  /** `127.0.0.1:PORT`. */
  readonly place: string;
  /** The bodies of its requests, in order. */
  readonly bodies: readonly string[];
}

/**
 * Starts a stand-in for the service that a plugin asks.
 *
 * @param answers the JSON, the text or the `data:` text of a file that it answers, by a part of the path or of the body: the first that
 *   fits; `{}` by default. `@SERVER@` in it
 *   is its own place.
 */
export async function standIn(answers: Readonly<Record<string, unknown>>): Promise<StandIn> {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer); // a server's parts are buffers
    const asked = `${request.url ?? ''} ${Buffer.concat(parts).toString()}`;
    bodies.push(asked);
    const fitting = Object.keys(answers).find((part) => asked.includes(part));
    const answer = fitting === undefined ? {} : answers[fitting];
    const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const [, type = 'application/json', file] = /^data:([^;]+);base64,(.*)$/.exec(body) ?? [];
    response.writeHead(200, { 'content-type': type });
    if (file === undefined) response.end(body.replaceAll('@SERVER@', String(request.headers.host)));
    else response.end(Buffer.from(file, 'base64'));
  });
  new WebSocketServer({ server });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return { place: `127.0.0.1:${address.port}`, bodies };
}
