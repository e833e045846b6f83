import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { startServer } from './child.js';
import { lineTransport } from './lines.js';
import { listen } from './listen.js';
import type { McpOptions } from './options.js';
import { Relay } from './relay.js';
import { UrlTransport } from './url.js';

/**
 * Runs a proxy of MCP until its client leaves, its server ends, or `stop` aborts: between stdin and a server, or between clients on a port
 * and a server for each.
 *
 * @returns whether it has ended with its client or by `stop`: else the server has gone.
 * @throws Error (as a rejection) if the server cannot be started, or the port is taken.
 */
export async function runMcp(options: McpOptions): Promise<boolean> {
  const { stdin: input, write, bounds, port, warn, stop } = options;
  const stopped = stop.aborted ? Promise.resolve() : once(stop, 'abort');
  if (port === undefined) {
    const relay = await begin(lineTransport({ input, write, maxBytes: bounds.maxBytes }), options);
    void stopped.then(() => relay.end('client'));
    return (await relay.closed) === 'client' || stop.aborted;
  }
  const { token = randomBytes(32).toString('hex') } = options;
  const door = await listen({ ...options, port, token }, (client) => begin(client, options));
  const told = options.token === undefined ? `, with "Authorization: Bearer ${token}"` : '';
  warn(`it listens at ${door.url}${told}`);
  await stopped;
  await door.close();
  return true;
}

/** Starts a session of a client with a server of its own. */
async function begin(client: Transport, options: McpOptions): Promise<Relay> {
  const { server } = options;
  const relay = new Relay(
    client,
    'url' in server
      ? new UrlTransport(server, options, (id, why) => relay.fail('client', id, why))
      : await startServer(server.command, options),
    options,
  );
  await relay.start();
  return relay;
}
