import type { Clock, Logger, SluiceError } from 'sluice-kernel';
import { gatewayError } from '../errors.js';
import type { ClientIntroduction } from '../protocol/connect-params.js';

/** The options of a client of a gateway. Times are in milliseconds. */
export interface OpenClawClientOptions extends ClientIntroduction {
  /** `ws://` for this machine, `wss://` for any. */
  readonly url: string;
  /** Takes `ws://` to another machine, which sends the token in the clear. */
  readonly allowPlaintext?: boolean;
  /** From the start of a connection to the gateway's welcome; 10,000 by default. */
  readonly handshakeTimeoutMs?: number;
  /** The time for an answer, unless the request has its own; 30,000 by default. */
  readonly requestTimeoutMs?: number;
  readonly reconnect?: Partial<ReconnectOptions>;
  /** How long a run waits for a lost connection to come back; 30,000 by default. */
  readonly resumeWindowMs?: number;
  /** Frames longer than this are counted and dropped, in bytes; 4 MiB by default. */
  readonly maxFrameBytes?: number;
  /** A frame longer than this costs the connection, in bytes; 25 MiB by default. */
  readonly maxPayloadBytes?: number;
  /** The most bytes that may wait to be sent; 4 MiB by default. */
  readonly maxBufferedBytes?: number;
  /** Runs that may be registered at once, for `agent` and for `chat` events each; 50 by default. */
  readonly maxRuns?: number;
  readonly clock?: Clock;
  /** From 0 to 1, without 1: for jitter. */
  readonly random?: () => number;
  readonly logger?: Logger;
}

/** How a client comes back, in milliseconds. */
export interface ReconnectOptions {
  /** 800 by default. */
  readonly firstDelayMs: number;
  /** The factor by which the delay grows with each attempt; 1.7 by default. */
  readonly factor: number;
  /** 15,000 by default. */
  readonly maxDelayMs: number;
  /** How much of the delay, at most, is added by chance; 0.25 by default. */
  readonly jitter: number;
}

/** The limits of a client, each with its default. */
const limits = {
  handshakeTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  resumeWindowMs: 30_000,
  maxFrameBytes: 4 * 1024 * 1024,
  maxPayloadBytes: 25 * 1024 * 1024,
  maxBufferedBytes: 4 * 1024 * 1024,
  maxRuns: 50,
} as const;

/** The limits of a client. */
export type ClientLimits = { readonly [Name in keyof typeof limits]: number };

/** Reads the limits of a client. @throws SluiceError `bad-client-option`. */
export function limitsOf(options: OpenClawClientOptions): ClientLimits {
  const given: Record<keyof ClientLimits, number> = { ...limits };
  for (const option of Object.keys(limits) as (keyof ClientLimits)[]) {
    // the table's own keys
    given[option] = options[option] ?? limits[option];
    mustBePositive(option, given[option]);
  }
  return given;
}

/** Reads how a client comes back. @throws SluiceError `bad-client-option`. */
export function reconnectOf({ reconnect = {} }: OpenClawClientOptions): ReconnectOptions {
  const given = { firstDelayMs: 800, factor: 1.7, maxDelayMs: 15_000, jitter: 0.25, ...reconnect };
  mustBePositive('reconnect.firstDelayMs', given.firstDelayMs);
  mustBePositive('reconnect.maxDelayMs', given.maxDelayMs);
  if (!(given.factor >= 1)) throw badOption('reconnect.factor', 'it is a number from 1 up');
  if (!(given.jitter >= 0 && given.jitter <= 1))
    throw badOption('reconnect.jitter', 'it is a number from 0 to 1');
  return given;
}

/**
 * The address of a gateway.
 *
 * @throws SluiceError `bad-client-option`, where it is none, holds a secret, or would send one in the clear.
 */
export function urlOf({ url, allowPlaintext = false }: OpenClawClientOptions): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['ws:', 'wss:'].includes(parsed.protocol))
    throw badOption(
      'url',
      'it is an address such as ws://127.0.0.1:18789 or wss://gateway.example',
    );
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '')
    throw badOption('url', 'it holds a secret or a query; give the token with the option token');
  if (parsed.protocol === 'ws:' && !allowPlaintext && !isLoopback(parsed.hostname))
    throw badOption(
      'url',
      `ws: sends the token to ${parsed.hostname} in the clear; use wss:, or allowPlaintext`,
    );
  return parsed;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function mustBePositive(option: string, value: number): void {
  if (!(Number.isFinite(value) && value > 0)) throw badOption(option, 'it is a number above 0');
}

/** An option of a client or of a provider that cannot be used. */
export function badOption(option: string, problem: string): SluiceError {
  return gatewayError('bad-client-option', { option, problem });
}
