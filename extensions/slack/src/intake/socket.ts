import { SocketModeClient } from '@slack/socket-mode';
import { pause, startFailure } from 'sluice/chat';
import { isTokenRefused } from '../api/refusal.js';
import { silentSlackLogger } from '../api/silent-logger.js';
import { failureOf } from '../api/web-api.js';
import type { Intake, IntakeParts } from './intake.js';

/** Milliseconds of real time in which Slack must answer a ping. */
const pongTimeoutMs = 30_000;
/** Milliseconds until a connection that says nothing is given up. */
const helloTimeoutMs = 30_000;
const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;
/** Milliseconds after which a connection that ends has been a good one: the next is made at once. */
const steadyMs = 60_000;

/** The options of `startSocket`. */
interface SocketOptions extends IntakeParts {
  readonly appToken: string;
  readonly apiRoot?: string | undefined;
}

/** One connection. */
interface Connection {
  readonly client: SocketModeClient;
  /** Resolves when it is over. */
  readonly lost: Promise<void>;
}

/**
 * Takes what Slack brings by a socket. Slack ends each connection after some hours, and says so; another one is made. The
 * library's own way of connecting again is off: it ends the process if Slack cannot be reached then.
 *
 * @throws Error if the first connection cannot be made.
 */
export async function startSocket(options: SocketOptions): Promise<Intake> {
  const { appToken, apiRoot, clock, log, take, ended } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  const connect = async (): Promise<Connection> => {
    const giveUp = new AbortController();
    const client = new SocketModeClient({
      appToken,
      autoReconnectEnabled: false,
      clientPingTimeout: pongTimeoutMs,
      logger: silentSlackLogger,
      clientOptions: {
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        fetch: (url, init) => fetch(url, { ...init, signal: giveUp.signal }),
        ...(apiRoot !== undefined && { slackApiUrl: apiRoot }),
      },
    });
    const whyEnded = guarded(client);
    client.on('slack_event', ({ type, body, ack }: SlackEvent) => {
      const done = (): void => void ack().catch(() => undefined); // the connection is gone: it comes again
      take(type, body, { done, refuse: () => undefined });
    });
    const lost = new Promise<void>((resolve) => {
      client.once('disconnected', () => resolve());
    });
    const end = (): void => {
      giveUp.abort();
      void client.disconnect();
    };
    const timer = clock.setTimeout(end, helloTimeoutMs);
    signal.addEventListener('abort', end, { once: true });
    try {
      await client.start();
      return { client, lost };
    } catch (error) {
      throw error ?? new Error(whyEnded()); // the library says nothing of a connection that was closed
    } finally {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  };

  /** Connections in a row that were not made, or did not hold. */
  let failures = 0;
  const wait = async (detail: string, askedMs = 0): Promise<void> => {
    const waitMs = Math.max(askedMs, Math.min(longestBackoffMs, firstBackoffMs * 2 ** failures++));
    log.warn(`no connection to Slack; tried again in ${waitMs} ms`, { detail });
    await pause(clock, waitMs, signal);
  };

  /** Connects again until it works. @returns nothing when it never will. */
  const connectAgain = async (): Promise<Connection | undefined> => {
    while (!signal.aborted) {
      try {
        return await connect();
      } catch (error) {
        const failure = failureOf(error);
        if (isTokenRefused(failure)) {
          ended("Slack refuses the app's token", failure.reason);
          return undefined;
        }
        await wait(failure.reason, failure.status === 'refused' ? failure.retryAfterMs : 0);
      }
    }
    return undefined;
  };

  const first = await connect().catch((error: unknown) => {
    throw startFailure('Slack', 'does not take the app-level token', failureOf(error));
  });
  let current: Connection | undefined = first;
  const run = async (): Promise<void> => {
    while (current !== undefined && !signal.aborted) {
      const sinceMs = clock.monotonicMs();
      await current.lost;
      if (clock.monotonicMs() - sinceMs >= steadyMs) failures = 0;
      else if (!signal.aborted) await wait('it ended soon after it began');
      current = await connectAgain();
    }
    if (signal.aborted) void current?.client.disconnect(); // it was made meanwhile
  };
  const running = run();

  return {
    close: async () => {
      stopping.abort();
      void current?.client.disconnect();
      const done = new AbortController();
      await Promise.race([running, pause(clock, 2_000, done.signal)]);
      done.abort(); // so that nothing of the pause stays behind
    },
  };
}

/**
 * Keeps a frame that the library cannot read from ending the process: its reader rejects, and nobody hears it. Reads why Slack ends
 * a connection, such as `too_many_websockets`, which the library keeps to itself.
 */
function guarded(client: SocketModeClient): () => string {
  let why = 'it was closed before it began';
  const [read] = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', async (...frame: readonly unknown[]) => {
    [, why = why] = /"type":\s*"disconnect".*"reason":\s*"(\w{1,80})"/.exec(String(frame[0])) ?? [];
    await Promise.resolve(read?.(...frame)).catch(() => undefined);
  });
  return () => why;
}

/** An event of the library. */
interface SlackEvent {
  readonly type: string;
  readonly body: unknown;
  readonly ack: () => Promise<void>;
}
