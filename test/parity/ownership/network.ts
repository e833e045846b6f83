import { setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';
import { type Reply, timeoutMs } from './sequence.js';

/** A request to the service. */
export interface Asked {
  readonly url: string;
  readonly agentId: unknown;
}

/** Stands for the network in both sides: what was asked, and what comes back. */
export interface Network {
  /** What the service does from now on. */
  reply: Reply;
  /** Takes the requests so far. */
  takeAsked(): Asked[];
  /** Lets the time be up that `AbortSignal.timeout` was asked for, which is the plugin's. */
  expire(): Promise<void>;
}

/** Puts a scripted service in the place of `fetch`, until the globals are unstubbed. */
export function scriptedNetwork(first: Reply): Network {
  let asked: Asked[] = [];
  let timeouts: AbortController[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== timeoutMs) throw new Error(`its time is ${ms} ms`);
    const timeout = new AbortController();
    timeouts.push(timeout);
    return timeout.signal;
  });
  vi.stubGlobal('fetch', async (url: string, init: RequestInit): Promise<Response> => {
    const { agent_id: agentId } = JSON.parse(String(init.body)) as { agent_id: unknown };
    const type = new Headers(init.headers).get('content-type');
    if (init.method !== 'POST' || type !== 'application/json') throw new Error('asked otherwise');
    asked.push({ url, agentId });
    return await answer(network.reply, init.signal);
  });
  const network: Network = {
    reply: first,
    takeAsked: () => {
      const taken = asked;
      asked = [];
      return taken;
    },
    expire: async () => {
      await turn(); // what was asked has come back, as far as it does
      for (const timeout of timeouts) timeout.abort(new DOMException('timed out', 'TimeoutError'));
      timeouts = [];
    },
  };
  return network;
}

/** As `fetch` does: a signal ends the wait for an answer, and a body that is being read. */
async function answer(
  { status, body, hangs }: Reply,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  if (hangs === 'answer')
    return await new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  if (status === undefined) throw new TypeError('fetch failed', { cause: new Error('refused') });
  if (hangs !== 'body') return new Response(body ?? null, { status });
  const endless = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(body));
      signal?.addEventListener('abort', () => {
        try {
          controller.error(signal.reason);
        } catch {
          // its reader has gone already
        }
      });
    },
  });
  return new Response(endless, { status });
}
