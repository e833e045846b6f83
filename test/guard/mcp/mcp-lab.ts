import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Heard, Verdict } from '../../../extensions/guard/src/agents/codec.js';
import type { JudgedPoint } from '../../../extensions/guard/src/mcp/judge.js';
import { type McpOptions, usualBounds } from '../../../extensions/guard/src/mcp/options.js';
import { Relay } from '../../../extensions/guard/src/mcp/relay.js';
import { virtualClock } from '../../../src/testing/index.js';

/** A message as a test writes it: nothing says that it is one. */
export type Said = Readonly<Record<string, unknown>>;

/** The usual bounds, but for some. */
export const within = (some: Partial<McpOptions['bounds']>) => ({
  bounds: { ...usualBounds, ...some },
});

/** A judge that a test gives, with what it has heard. */
export type TestJudge = (
  point: JudgedPoint,
  heard: Heard,
  signal: AbortSignal,
) => Verdict | Promise<Verdict>;

/** Options for a proxy whose server is not started by it. */
export function optionsWith(judge: TestJudge, more: Partial<McpOptions> = {}) {
  const warnings: string[] = [];
  const clock = virtualClock();
  const stop = new AbortController();
  const options = {
    server: { command: [] },
    judge: async (...heard: Parameters<TestJudge>) => judge(...heard),
    stdin: new PassThrough(),
    write: async () => undefined,
    warn: (line: string) => void warnings.push(line),
    cwd: '/work',
    env: {},
    clock,
    bounds: usualBounds,
    stop: stop.signal,
    ...more,
  } satisfies McpOptions;
  return { options, warnings, clock, stop };
}

export const allow = (): Verdict => ({ status: 'allowed' });

/** A proxy between two ends that a test speaks for, in one process. */
export async function relayLab(judge: TestJudge = allow, more: Partial<McpOptions> = {}) {
  const heard: { point: JudgedPoint; heard: Heard }[] = [];
  const { options, warnings, clock } = optionsWith((point, what, signal) => {
    heard.push({ point, heard: what });
    return judge(point, what, signal);
  }, more);
  const [client, near] = InMemoryTransport.createLinkedPair();
  const [far, server] = InMemoryTransport.createLinkedPair();
  const relay = new Relay(near, far, options);
  const ends = { client, server };
  const got: Record<keyof typeof ends, Said[]> = { client: [], server: [] };
  const gone: string[] = [];
  for (const name of ['client', 'server'] as const) {
    ends[name].onmessage = (message) => void got[name].push(message);
    ends[name].onclose = () => void gone.push(name);
    await ends[name].start();
  }
  await relay.start();
  /** Says a message, and waits until everything that follows at once has happened. */
  const say = async (from: keyof typeof ends, message: unknown): Promise<void> => {
    await ends[from].send(
      (Array.isArray(message) ? message : { jsonrpc: '2.0', ...Object(message) }) as JSONRPCMessage,
    );
    await settle();
  };
  /** Calls a tool, and has the server answer if it hears the call. Gives the answer that the client gets. */
  const call = async (params: Said, result: Said | ((params: Said) => Said), id = 1) => {
    await say('client', { id, method: 'tools/call', params });
    const asked = got.server.find((one) => one['id'] === id && one['method'] === 'tools/call');
    if (asked !== undefined) {
      const answer = typeof result === 'function' ? result(Object(asked['params'])) : { result };
      await say('server', { id, ...answer });
    }
    return got.client.find((one) => one['id'] === id && !('method' in one));
  };
  return { relay, ends, got, gone, say, call, heard, warnings, clock };
}

export async function settle(): Promise<void> {
  for (let at = 0; at < 3; at++) await turn();
}

/** A text as a tool gives it. */
export const text = (said: string): Said => ({ content: [{ type: 'text', text: said }] });
